// The library's trace file as its users have it: moved, with a filter, read again, stopped.
#include "catch_2_or_3.hpp"
#include "mmioscope/trace.hpp"
#include "random_trace.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "system/byte_source.hpp"
#include "wires.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

std::string file_in(const Folder& folder) {
    const RandomTrace random(1, 5'000);
    std::ofstream file(folder / "t.mmio", std::ios::binary);
    file.write(reinterpret_cast<const char*>(random.bytes.data()),
               static_cast<std::streamsize>(random.bytes.size()));
    return folder / "t.mmio";
}

std::vector<std::string> devices(TraceFile& trace) {
    std::vector<std::string> devices;
    while (const Event* event = trace.next()) {
        devices.emplace_back(event->device());
    }
    return devices;
}

} // namespace

TEST_CASE("a trace file with a filter may be moved, and be read again from its beginning") {
    const Folder folder;
    TraceFileOptions options;
    options.filter = "w";
    options.report = [](const std::string&) {};
    const std::string path = file_in(folder);
    std::vector<TraceFile> moved;
    for (int i = 0; i < 5; ++i) {
        moved.emplace_back(path, options); // moves those before
    }
    const std::vector<std::string> first = devices(moved.front());
    CHECK(first.size() > 100);
    for (TraceFile& trace : moved) {
        const std::size_t known = trace.devices().size();
        devices(trace);
        trace.seek_number(1);
        CHECK(known > 0);
        CHECK(trace.devices().size() == known);
        CHECK(devices(trace) == first);
    }
}

TEST_CASE("a search that finds nothing can be stopped, and goes on") {
    const Folder folder;
    unsigned asked = 0;
    TraceFileOptions options;
    options.filter = "w && r";
    options.report = [](const std::string&) {};
    options.stop = [&asked] { return ++asked == 1; };
    TraceFile trace(file_in(folder), options);
    CHECK(trace.next() == nullptr);
    CHECK(asked == 1);
    CHECK_FALSE(trace.ending()); // not read to its end
    CHECK(trace.next() == nullptr);
    CHECK(trace.ending());
}

TEST_CASE("who keeps names is told before they become invalid, on the way back, too") {
    const RandomTrace random(1, 5'000);
    MemorySource source(random.bytes);
    reading::TraceOptions options;
    options.report = [](const std::string&) {};
    reading::Trace trace(options, source);
    std::vector<std::pair<Event, std::string>> kept;
    unsigned told = 0;
    trace.on_forget([&] {
        ++told;
        for (const auto& [event, device] : kept) {
            CHECK(event.device() == device);
        }
        kept.clear();
    });
    for (int i = 0; i < 50; ++i) {
        const Event event = *trace.next();
        event.settle();
        kept.emplace_back(event, std::string(event.device()));
    }
    trace.seek_number(1);
    CHECK(told == 1);
}

TEST_CASE("events that are read many at a time, and kept, are those that are read one by one") {
    const Folder folder;
    const std::string path = file_in(folder);
    TraceFileOptions options;
    options.report = [](const std::string&) {};
    std::vector<KeptEvent> kept;
    std::vector<std::uint64_t> lasted;
    {
        TraceFile trace(path, options);
        REQUIRE(trace.next() != nullptr); // the others of its group come at once
        trace.seek_number(1);
        for (auto events = trace.next_events(); !events.empty(); events = trace.next_events()) {
            CHECK(events.size() <= 64);
            for (const Event& event : events) {
                kept.emplace_back(event);
                lasted.push_back(trace.duration(event));
            }
        }
    }
    TraceFile again(path, options);
    std::size_t index = 0;
    for (const Event* event = again.next(); event != nullptr; event = again.next(), ++index) {
        REQUIRE(index < kept.size());
        const KeptEvent& copy = kept[index];
        CHECK(std::memcmp(&copy.record, &event->record, sizeof copy.record) == 0);
        CHECK(copy.number == event->number);
        CHECK(copy.nanoseconds == event->nanoseconds);
        CHECK(copy.device == event->device());
        CHECK(copy.offset == event->offset());
        CHECK(copy.reg.has_value() == (event->reg() != nullptr));
        CHECK((!copy.reg || copy.reg->name == event->reg()->name));
        CHECK(copy.code.has_value() == (event->code() != nullptr));
        CHECK((!copy.code || copy.code->function == event->code()->function));
        CHECK(copy.caller.has_value() == (event->caller() != nullptr));
        CHECK(copy.task.has_value() == (event->task() != nullptr));
        CHECK((!copy.task || copy.task->comm == event->task()->comm));
        CHECK(copy.interrupt == event->interrupt());
        CHECK(copy.text == event->text());
        CHECK(lasted[index] == again.duration(*event));
        const Device* const device = again.device(*event);
        CHECK((device != nullptr) == (event->record.device < again.devices().size()));
        CHECK((device == nullptr || event->device() == "-" || device->name == event->device()));
    }
    CHECK(index == kept.size());
    CHECK(index > 1'000);
}

TEST_CASE("a trace file says what `print` says of the whole trace") {
    const Folder folder;
    const std::string path = file_in(folder);
    TraceFileOptions options;
    options.report = [](const std::string&) {};
    TraceFile trace(path, options);
    while (trace.next() != nullptr) {
    }
    reading::TraceOptions same;
    same.path = path;
    same.report = options.report;
    reading::Trace other(same);
    reading::Tally tally(false);
    while (const Event* event = other.next()) {
        tally.add(*event);
    }
    CHECK(trace.verdict() == tally.verdict(other.reader()));
    CHECK(trace.complete() == (tally.status(other.reader()) == Status::fine));
    CHECK_THAT(trace.verdict(), Catch::Contains("complete: "));
    trace.seek_number(1'000);
    CHECK(trace.next() != nullptr);
    CHECK_THAT(trace.verdict(), Catch::Contains(" selected"));
}

TEST_CASE("a file that is being written is followed until a program stops the wait") {
    const Folder folder;
    const std::string path = file_in(folder);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    unsigned asked = 0;
    TraceFileOptions options;
    options.follow = true;
    options.report = [](const std::string&) {};
    options.stop = [&] { return ++asked > 2; };
    TraceFile trace(path, options);
    std::uint64_t events = 0;
    while (trace.next() != nullptr) {
        ++events;
    }
    CHECK(events > 100);
    CHECK(asked > 2);
    CHECK_FALSE(trace.ending());
    CHECK_FALSE(trace.complete());
}

TEST_CASE("a trace file that is none is an Error with its kind") {
    const Folder folder;
    std::ofstream(folder / "none") << "text";
    try {
        TraceFile(folder / "none");
        FAIL("it was opened");
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
    }
}
