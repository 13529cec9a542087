// first-events TRACE [FROM [TO [FILTER]]]: prints the first ten events, from FROM to TO
// nanoseconds, and facts about the file. Written as by a user who has mmioscope installed.
#include <mmioscope/trace.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) try {
    mmioscope::TraceFileOptions options;
    if (count > 2) options.from = std::strtoull(arguments[2], nullptr, 0);
    if (count > 3) options.to = std::strtoull(arguments[3], nullptr, 0);
    if (count > 4) options.filter = arguments[4];
    mmioscope::TraceFile trace(count > 1 ? arguments[1] : "-", options);
    std::uint64_t events = 0;
    while (const mmioscope::Event* event = trace.next())
        if (events++ < 10)
            std::printf("%" PRIu64 " cpu%u %.*s+%" PRIx64 " %" PRIx64 "\n", event->nanoseconds,
                        event->record.cpu, int(event->device().size()), event->device().data(),
                        event->offset(), event->record.value);
    std::printf("%s: %" PRIu64 " events, %zu losses, %s\n", trace.board().c_str(), events,
                trace.losses().size(), trace.sound() ? "sound" : "not sound");
} catch (const std::exception& error) {
    std::fprintf(stderr, "first-events: %s\n", error.what());
    return 2;
}
