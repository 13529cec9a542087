// `mmioscope record`: what a recording shows while it runs.
#include "record/recording.hpp"
#include "recorder_process.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("record: with --follow, events are printed while the sender goes on") {
    const Folder folder;
    record::Options options = from("unix:" + (folder / "w"));
    options.follow = true;
    options.live.all = GENERATE(true, false);
    const FileDescriptor listener = unix_listener(folder / "w");
    Recorder recorder(folder, options);
    const FileDescriptor sender = accepted(listener);
    const Stream stream = Stream().records(0, 100).end(100);
    const std::size_t half = stream.edges[1]; // 50 records of 100
    send_all(sender.get(), stream.text().substr(0, half));
    recorder.wait_for(" pc 0xc0000031");
    const std::string said = recorder.said();
    CHECK_THAT(said, Catch::Contains(" R4 serial ") && Catch::Contains(" pc 0xc0000031"));
    CHECK_THAT(said, !Catch::Contains(" pc 0xc0000032") && !Catch::Contains("complete:"));
    send_all(sender.get(), stream.text().substr(half));
    CHECK(recorder.status() == 0);
    CHECK_THAT(recorder.said(), Catch::Contains(" pc 0xc0000063") &&
                                    Catch::EndsWith("complete: 100 events, 0 lost\n"));
}

TEST_CASE("record: with --follow, a selection that nothing matches is said") {
    const Folder folder;
    const Stream boot = Stream().records(0, 100).end(100);
    std::ofstream(folder / "w") << boot.text();
    record::Options options = from(folder / "w");
    options.follow = true;
    constexpr std::uint64_t hour = 3600'000'000'000; // ns
    options.live.events.from = GENERATE(reading::Moment(0), reading::Moment(hour));
    const bool nothing = options.live.events.from->nanoseconds == hour;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 0);
    const std::string said = recorder.said();
    CHECK((said.find("nothing was recorded that -F, --cpu, --from and --to select\n") !=
           said.npos) == nothing);
    CHECK_THAT(said, Catch::EndsWith("complete: 100 events, 0 lost\n"));
}

TEST_CASE("record: the rate covers the time since the last look, bytes per event all the time") {
    record::Rate rate;
    CHECK(rate.text(0, 0, 0) == "0 events, 0/s; 0 bytes/s, 0.00 bytes per event");
    CHECK(rate.text(2, 1000, 3000) == "1000 events, 500/s; 1500 bytes/s, 3.00 bytes per event");
    CHECK(rate.text(2.5, 1400, 3140) == "1400 events, 800/s; 280 bytes/s, 2.24 bytes per event");
    CHECK(rate.text(4, 1400, 3140) == "1400 events, 0/s; 0 bytes/s, 2.24 bytes per event");
    CHECK(rate.text(4, 1401, 3142) == // two looks at the same time: no division by 0
          "1401 events, 1000/s; 2000 bytes/s, 2.24 bytes per event");
}
