// Reads a file while it is written: nothing is missed, and the end is detected.
#include "file/file_writer.hpp"
#include "file/trace_reader.hpp"
#include "records.hpp"

#include <atomic>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("a follower sees every record, and is called while it waits") {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    std::atomic<bool> waited = false;
    std::uint32_t next = 0;
    std::thread follower([&] {
        trace::FollowSource source(file.get(), progress, [&] { waited = true; });
        trace::TraceReader reader(source, [](const std::string&) {});
        for (auto records = reader.next(); !records.empty(); records = reader.next()) {
            for (const abi::Record& record : records) {
                next += record.cpu_sequence == next ? 1 : 1'000'000;
            }
        }
    });
    trace::FileWriter writer(file.get(), progress);
    write_info(writer);
    for (std::uint32_t i = 0; i < 5000; ++i) {
        const abi::Record record = access(0, i, i);
        writer.append(std::span(&record, 1));
        if (i % 100 == 0) {
            writer.flush();
        }
        for (int tries = 0; i == 2500 && !waited && tries < 6000; ++tries) { // it starts late
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    writer.finish(0, abi::Ending::machine_off);
    progress.finish();
    follower.join();
    CHECK(next == 5000);
    CHECK(waited);
}

TEST_CASE("a file that is never finished is read to where it ends") {
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const abi::Record record = access(0, 0, 0);
    writer.append(std::span(&record, 1));
    writer.flush();
    progress.finish();
    trace::FollowSource source(file.get(), progress, [] {});
    trace::TraceReader reader(source, [](const std::string&) {});
    CHECK(reader.next().size() == 1);
    CHECK(reader.next().empty());
    CHECK(!reader.end());
}
