// The library's trace file as its users have it: moved, with a filter, read again, stopped.
#include "catch_2_or_3.hpp"
#include "mmioscope/trace.hpp"
#include "random_trace.hpp"
#include "reading/trace.hpp"
#include "system/byte_source.hpp"
#include "wires.hpp"

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
        const std::size_t regions = trace.regions().size();
        devices(trace);
        trace.seek_number(1);
        CHECK(regions > 0);
        CHECK(trace.regions().size() == regions);
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
