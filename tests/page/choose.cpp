// Says which events filters choose, for a comparison with the page: choose TRACE [REGISTERS-FILE].
// For each line of standard input, a filter, it prints "COUNT HASH", the FNV-1a hash of the events'
// numbers, or "error COLUMN".
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>

using namespace mmioscope;

namespace {

std::string chosen(reading::TraceOptions options) {
    std::uint32_t hash = 2166136261;
    std::uint64_t count = 0;
    reading::Trace trace(options);
    for (auto events = trace.next_events(); !events.empty(); events = trace.next_events()) {
        for (const Event& event : events) {
            hash = (hash ^ static_cast<std::uint32_t>(event.number)) * 16777619;
            ++count;
        }
    }
    return fmt::format("{} {}", count, hash);
}

} // namespace

int main(int argc, char** argv) {
    reading::TraceOptions options;
    options.path = argc > 1 ? argv[1] : "-";
    if (argc > 2) {
        options.registers.emplace_back(argv[2]);
    }
    options.report = [](const std::string&) {};
    for (std::string line; std::getline(std::cin, line);) {
        options.filter = line;
        try {
            fmt::print("{}\n", chosen(options));
        } catch (const Error& error) { // "filter: column 12: ..."
            const std::string text = error.what();
            const std::size_t at = text.find("column ");
            fmt::print("error {}\n",
                       at == text.npos ? text : text.substr(at + 7, text.find(':', at) - at - 7));
        }
    }
}
