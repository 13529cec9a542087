// go-back TRACE FILTER: reads a trace with a filter, goes back, and reads it again; then stops a
// search that finds nothing. Prints what differs. Written as by a user who has mmioscope installed.
#include <mmioscope/trace.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<std::string> lines_of(mmioscope::TraceFile& trace) {
    std::vector<std::string> lines;
    while (const mmioscope::Event* event = trace.next())
        lines.push_back(std::to_string(event->number) + ' ' + std::string(event->device()) + ' ' +
                        (event->reg() != nullptr ? event->reg()->name : ""));
    return lines;
}

int fail(const char* what) {
    std::printf("%s\n", what);
    return 1;
}

} // namespace

int main(int count, char** arguments) try {
    if (count != 3) return fail("usage: go-back TRACE FILTER");
    mmioscope::TraceFileOptions options;
    options.filter = arguments[2];
    mmioscope::TraceFile opened(arguments[1], options);
    mmioscope::TraceFile trace = std::move(opened); // a user may
    const std::size_t devices = trace.devices().size();
    const std::vector<std::string> first = lines_of(trace);
    trace.seek_number(1);
    if (devices == 0 || trace.devices().size() != devices) return fail("the devices are not known");
    if (lines_of(trace) != first) return fail("the second reading differs");

    unsigned asked = 0;
    options.filter = "value==0x123456789 && w && r";
    options.stop = [&asked] { return ++asked == 3; };
    mmioscope::TraceFile nothing(arguments[1], options);
    if (nothing.next() != nullptr || asked != 3) return fail("the search was not stopped");
    std::printf("%zu events\n", first.size());
} catch (const std::exception& error) {
    std::fprintf(stderr, "go-back: %s\n", error.what());
    return 2;
}
