#include "verify/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::verify {

namespace {

constexpr std::size_t most_details = 10;

std::string line_text(const importing::Line& line, const importing::AccessLog& log) {
    std::string text = fmt::format("log line {}: {} addr {:#010x} size {}", line.number,
                                   line.write ? "write" : "read", line.address, line.size);
    if (line.kind == importing::LineKind::access) {
        text += fmt::format(" cpu {} value {:#x}", line.cpu, line.value);
    }
    if (line.kind == importing::LineKind::pc) {
        return text + fmt::format(" cpu {} pc {:#010x}", line.cpu, line.pc);
    }
    return text + fmt::format(" {}", log.regions[line.region]);
}

std::string event_text(const importing::Event& event, const tree::DeviceNames& names) {
    std::string text =
        fmt::format("record {}: {} addr {:#010x} size {} cpu {}", event.number,
                    event.write ? "write" : "read", event.address, event.size, event.cpu);
    text += event.value_known ? fmt::format(" value {:#x}", event.value) : " value unknown";
    return text + fmt::format(" {} pc {:#010x} time {} +{} cpu seq {} lock seq {}{}",
                              names[event.device], event.pc, event.time, event.duration,
                              event.cpu_sequence, event.lock_sequence, event.own ? " (own)" : "");
}

std::string details(const Difference& difference, const importing::AccessLog& log,
                    std::span<const importing::Event> events, const tree::DeviceNames& names) {
    std::string text = fmt::format("{}:\n", kind_text(difference.kind));
    if (difference.kind == Kind::unreadable) {
        return text + fmt::format("  log line {}\n", difference.line);
    }
    if (difference.line != importing::nowhere) {
        text += fmt::format("  {}\n", line_text(log.lines[difference.line], log));
    }
    if (difference.event != importing::nowhere) {
        text += fmt::format("  {}\n", event_text(events[difference.event], names));
    }
    return text;
}

} // namespace

std::string difference_details(const Result& result, const importing::AccessLog& log,
                               std::span<const importing::Event> events,
                               const tree::DeviceNames& names) {
    std::string text;
    const std::size_t shown = std::min(result.differences.size(), most_details);
    for (std::size_t i = 0; i < shown; ++i) {
        text += details(result.differences[i], log, events, names);
    }
    if (result.differences.size() > shown) {
        text += fmt::format("... {} more differences\n", result.differences.size() - shown);
    }
    return text;
}

std::string notes(const Result& result, const importing::AccessLog& log) {
    std::string text;
    for (std::size_t row = 1; row < artefact_count; ++row) {
        if (result.artefacts[row] > 0) {
            text += fmt::format("note: {} events {}\n", result.artefacts[row],
                                artefact_text(static_cast<Artefact>(row)));
        }
    }
    if (result.behind_end > 0) {
        text +=
            fmt::format("note: {} accesses in the log come after the one that ended the machine\n",
                        result.behind_end);
    }
    if (result.unfinished > 0) {
        text += fmt::format(
            "note: {} accesses in the log are of instructions in whose middle the machine ended\n",
            result.unfinished);
    }
    if (result.unselected > 0) {
        text += fmt::format("note: {} accesses in the log are to places that were not traced\n",
                            result.unselected);
    }
    if (result.rom_reads > 0) {
        text += fmt::format("note: {} reads of flash in ROM mode, which QEMU does not log\n",
                            result.rom_reads);
    }
    if (log.of_stream > 0) {
        text +=
            fmt::format("note: {} accesses in the log were made by the stream\n", log.of_stream);
    }
    if (log.not_by_cpu > 0) {
        text += fmt::format("note: {} accesses in the log were made by no CPU\n", log.not_by_cpu);
    }
    if (log.other_lines > 0) {
        text += fmt::format("note: {} lines of the log are other messages\n", log.other_lines);
    }
    return text;
}

std::string verdict(const Result& result, std::string_view what) {
    const std::size_t count = result.differences.size();
    std::string text = fmt::format("verify: {} {} compared, {} difference{}", result.compared, what,
                                   count, count == 1 ? "" : "s");
    const char* separator = ": ";
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        if (result.by_kind[kind] > 0) {
            text += fmt::format("{}{} {}", separator, result.by_kind[kind],
                                kind_text(static_cast<Kind>(kind)));
            separator = ", ";
        }
    }
    return text;
}

std::string counts(const Result& result, std::size_t lines, std::size_t events) {
    std::string text = fmt::format("log {} trace {} compared {}", lines, events, result.compared);
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        text += fmt::format(" {} {}", kind_text(static_cast<Kind>(kind)), result.by_kind[kind]);
    }
    return text;
}

} // namespace mmioscope::verify
