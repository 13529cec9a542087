// keep-all TRACE: keeps all events, and prints them when the trace is closed. Written as by a user who has mmioscope
// installed, and also linked as a shared library, as a module of another language is.
#include <mmioscope/trace.hpp>

#include <cinttypes>
#include <cstdio>
#include <vector>

int keep_all(const char* path) {
    std::vector<mmioscope::KeptEvent> kept;
    std::vector<mmioscope::Device> devices;
    std::string verdict;
    bool complete = false;
    {
        mmioscope::TraceFile trace(path);
        for (auto events = trace.next_events(); !events.empty(); events = trace.next_events())
            for (const mmioscope::Event& event : events)
                kept.emplace_back(event);
        devices.assign(trace.devices().begin(), trace.devices().end());
        verdict = trace.verdict();
        complete = trace.complete();
    }
    for (const mmioscope::Device& device : devices)
        std::printf("%s %s 0x%" PRIx64 "+0x%" PRIx64 "\n", device.name.c_str(),
                    device.compatible.empty() ? "-" : device.compatible.front().c_str(), device.base, device.size);
    for (const mmioscope::KeptEvent& event : kept)
        std::printf("%" PRIu64 " %" PRIu64 " %s+0x%" PRIx64 " %s\n", event.number, event.nanoseconds, event.device.c_str(),
                    event.offset, event.reg ? event.reg->name.c_str() : "-");
    std::printf("%s", verdict.c_str());
    return complete ? 0 : 1;
}

int main(int count, char** arguments) try {
    return keep_all(count == 2 ? arguments[1] : "-");
} catch (const mmioscope::Error& error) {
    std::fprintf(stderr, "keep-all: %s\n", error.what());
    return static_cast<int>(error.status());
}
