// `mmioscope record`: accesses in whose middle CPUs were when the stream ended.
#include "file/texts.hpp"
#include "file/unfinished.hpp"
#include "recorder_process.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("record: an access in whose middle a CPU was at the end is in all verdicts") {
    const Folder folder;
    const bool panics = GENERATE(false, true);
    const auto reason = panics ? abi::StreamEnd::panicked : abi::StreamEnd::machine_reset;
    const std::string why = panics ? "the hypervisor stopped, " : "";
    std::ofstream(folder / "s")
        << Stream().records(0, 10).end(10, reason, {{1, 0xc010'0000, 0x1c09'0018, 77}}).text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("incomplete: 10 events, 0 lost; " + why +
                                                "cpu 1 was in the middle of an access to "
                                                "0x1c090018\n"));
    const FileDescriptor file = open_input(folder / "t.mmio");
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string&) {});
    while (!reader.next().empty()) {
    }
    CHECK(reader.text().at(trace::incomplete_key) ==
          why + "cpu 1 was in the middle of an access to 0x1c090018");
    const auto unfinished = trace::unfinished_accesses(reader.text());
    REQUIRE(unfinished.size() == 1);
    CHECK(unfinished[0].pc == 0xc010'0000);
    CHECK(unfinished[0].time == 77);
}

TEST_CASE("record: an end that names an access of no CPU is not valid") {
    const Folder folder;
    Stream stream = Stream().records(0, 10);
    stream.end(10, abi::StreamEnd::machine_off, {{2, 0, 0, 0}});
    std::ofstream(folder / "s") << stream.text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::Contains("incomplete: 10 events, 0 lost; "));
}
