// A recording's verdict is of what can be read back from its file.
#include "abi/shared_wire.hpp"
#include "cpu_time.hpp"
#include "file/packing.hpp"
#include "recorder_process.hpp"
#include "system/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>

using namespace mmioscope;
using namespace mmioscope::test;
using Catch::Contains;

namespace {

using Harm = std::function<void(const std::string& path)>;

void write_at(const std::string& path, std::uint64_t at, std::string_view text) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY));
    REQUIRE(::pwrite(file.get(), text.data(), text.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(text.size()));
}

/// What people and programs do to a file that is being written, and what the verdict says.
const std::pair<Harm, const char*> harms[] = {
    {[](const std::string& path) { std::filesystem::resize_file(path, 0); }, "was changed"},
    {[](const std::string& path) { std::filesystem::resize_file(path, 5000); }, "was changed"},
    {[](const std::string& path) { write_at(path, 300, "x"); }, "other bytes than were written"},
    {[](const std::string& path) { std::filesystem::remove(path); }, "was removed or renamed"},
    {[](const std::string& path) { std::filesystem::rename(path, path + ".old"); },
     "was removed or renamed"},
    {[](const std::string& path) {
         std::filesystem::remove(path);
         std::filesystem::create_directory(path);
     },
     "was replaced by another file"},
    {[](const std::string& path) { // by the same bytes: others will come to the old file only
         std::filesystem::copy_file(path, path + ".copy");
         std::filesystem::rename(path + ".copy", path);
     },
     "was replaced by another file"},
};

} // namespace

TEST_CASE("record: a file that is harmed meanwhile is incomplete, packed or plain") {
    const Stream stream = Stream().records(0, 1000).end(1000);
    const std::size_t half = stream.edges[10];
    for (const auto& [harm, why] : harms) {
        for (const bool plain : {false, true}) {
            const Folder folder;
            REQUIRE(::mkfifo((folder / "wire").c_str(), 0600) == 0);
            record::Options options = from(folder / "wire");
            options.plain = plain;
            Recorder recorder(folder, options);
            const FileDescriptor wire(::open((folder / "wire").c_str(), O_WRONLY));
            send_all(wire.get(), stream.text().substr(0, half));
            wait_for_records(folder / "t.mmio", 400);
            harm(folder / "t.mmio");
            send_all(wire.get(), stream.text().substr(half));
            CHECK(recorder.status() == 1);
            INFO(why << (plain ? ", plain" : ""));
            CHECK_THAT(recorder.said(),
                       Contains("\nincomplete: 1000 events, 0 lost; ") && Contains(why));
        }
    }
}

TEST_CASE("record: a harmed file of an earlier boot makes the whole recording incomplete") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "wire").c_str(), 0600) == 0);
    Recorder recorder(folder, from(folder / "wire"));
    const FileDescriptor wire(::open((folder / "wire").c_str(), O_WRONLY));
    send_all(wire.get(), Stream(1).records(0, 500).text());
    wait_for_records(folder / "t.mmio", 500);
    std::filesystem::remove(folder / "t.mmio");
    send_all(wire.get(), Stream(2).records(0, 100).end(100).text());
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Contains("t.mmio was removed or renamed") &&
                                    Contains("incomplete: 2 boots, 1 of them incomplete"));
}

TEST_CASE("record: two recordings into one file: the second is refused, the first is complete") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    REQUIRE(::mkfifo((folder / "wire").c_str(), 0600) == 0);
    Recorder first(folder, from(folder / "wire"));
    const FileDescriptor wire(::open((folder / "wire").c_str(), O_WRONLY));
    send_all(wire.get(), stream.text().substr(0, stream.edges[10]));
    wait_for_records(folder / "t.mmio", 400);
    std::ofstream(folder / "s") << stream.text();
    {
        Recorder second(folder, from(folder / "s"));
        CHECK(second.status() == 2);
        CHECK_THAT(second.said(),
                   Contains("t.mmio: another output, or another program, writes it"));
    }
    send_all(wire.get(), stream.text().substr(stream.edges[10]));
    CHECK(first.status() == 0);
    CHECK_THAT(first.said(), Catch::EndsWith(whole));
    CHECK(read_trace(folder / "t.mmio").records.size() == 1000);
}

TEST_CASE("record: outputs that are one file are refused before anything is written") {
    const Folder folder;
    std::ofstream(folder / "s") << Stream().records(0, 100).end(100).text();
    std::ofstream(folder / "old.mmio") << "old";
    std::filesystem::create_symlink("old.mmio", folder / "link");
    const std::pair<const char*, const char*> pairs[] = {
        {"old.mmio", "old.mmio"},   {"old.mmio", "link"}, {"new.mmio", "./new.mmio"},
        {"new.mmio", "new.2.mmio"}, {"new", "new.17"},    {"link", "old.mmio"}};
    for (const auto& [output, other] : pairs) {
        for (const bool console : {true, false}) {
            record::Options options = from(folder / "s");
            options.output = folder / output;
            (console ? options.console : options.control) = folder / other;
            Recorder recorder(folder, options);
            CHECK(recorder.status() == 2);
            CHECK_THAT(recorder.said(), Contains("are one file: choose another one"));
        }
    }
    CHECK(std::filesystem::file_size(folder / "old.mmio") == 3);
    CHECK(!std::filesystem::exists(folder / "new.mmio"));
}

TEST_CASE("a file that changes while it is packed stays, and is named") {
    const Folder folder;
    const std::string path = folder / "t.mmio";
    trace::FinishedFile finished{
        path, std::make_shared<trace::FollowedFile>(create_output(path)), {}};
    {
        trace::FileWriter writer(finished.file->file.get(), finished.file->written);
        writer.append(some(0, 10'000));
        writer.finish(0, abi::Ending::machine_off);
        finished.written = writer.written();
    }
    CHECK_NOTHROW(trace::read_back(finished));
    const auto goes_on = [&path](std::uint64_t done, std::uint64_t size) {
        if (done == size) { // all is read: somebody writes a newer recording
            write_at(path, 0, "newer");
        }
        return true;
    };
    CHECK_THROWS_WITH(trace::pack_file(path, finished.file->file.get(), goes_on),
                      "it was changed meanwhile");
    CHECK(std::filesystem::file_size(path) == finished.written.size);
    trace::Packing packing(true);
    packing.add(finished);
    CHECK_THAT(packing.finish(false), Contains("it has other bytes than were written"));
}

TEST_CASE("record: what standard output does not take is a failure, and the file is whole") {
    const Folder folder;
    std::ofstream(folder / "s") << Stream().records(0, 1000).end(1000).text();
    const FileDescriptor full(::open("/dev/full", O_WRONLY));
    for (const bool follow : {false, true}) {
        record::Options options = from(folder / "s");
        options.follow = follow;
        Recorder recorder(folder, options, -1, full.get());
        CHECK(recorder.status() == 1);
        CHECK_THAT(recorder.said(),
                   Contains("cannot write standard output: No space left on device"));
        CHECK(read_trace(folder / "t.mmio").records.size() == 1000);
    }
}

TEST_CASE("record: a console that cannot be written does not end the trace") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    abi::shared_wire::Packer packer;
    std::ofstream wire(folder / "s");
    wire << "Run /init as init process\r\n";
    for (const char byte : stream.text()) {
        packer.add(static_cast<std::uint8_t>(byte));
        for (; packer.any(); packer.taken()) {
            wire << static_cast<char>(packer.next());
        }
    }
    wire << std::flush;
    record::Options options = from(folder / "s");
    options.console = "/dev/full";
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Contains("complete: 1000 events, 0 lost\n") &&
                                    Contains("cannot write the console: No space left on device; "
                                             "the recording goes on without it"));
}

TEST_CASE("record: printing needs a file that gives back what was written") {
    const Folder folder;
    std::ofstream(folder / "s") << Stream().records(0, 1000).end(1000).text();
    record::Options options = from(folder / "s");
    options.output = "/dev/null";
    CHECK(Recorder(folder, options).status() == 0);
    options.follow = true;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 2);
    CHECK_THAT(recorder.said(), Contains("-o /dev/null: must be a regular file"));
}

TEST_CASE("record: a signal that is ignored when it starts stays ignored") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "wire").c_str(), 0600) == 0);
    std::signal(SIGHUP, SIG_IGN);
    Recorder recorder(folder, from(folder / "wire"));
    std::signal(SIGHUP, SIG_DFL);
    const FileDescriptor wire(::open((folder / "wire").c_str(), O_WRONLY));
    const Stream stream = Stream().records(0, 1000).end(1000);
    send_all(wire.get(), stream.text().substr(0, stream.edges[10]));
    wait_for_records(folder / "t.mmio", 400);
    recorder.signal(SIGHUP);
    send_all(wire.get(), stream.text().substr(stream.edges[10]));
    CHECK(recorder.status() == 0);
}

TEST_CASE("a long stall of the recorder is not quadratic") {
    // As many records as a ring of 64 MB has come in one pass.
    constexpr std::uint32_t count = 1'000'000;
    const FileDescriptor file = temporary_file();
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const std::vector<abi::Record> records(count, access(0, 0, 0));
    const auto written_in = [&] {
        writer.pending().insert(writer.pending().end(), records.begin(), records.end());
        return cpu_seconds([&writer] {
            while (writer.write_full()) {
            }
        });
    };
    CHECK(written_in() < 2); // it took 17 s
    writer.finish(0, abi::Ending::machine_off);
    REQUIRE(::lseek(file.get(), 0, SEEK_SET) == 0);
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    std::size_t read = 0;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        read += block.size();
    }
    CHECK(read == count);
}
