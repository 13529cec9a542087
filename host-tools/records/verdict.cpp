#include "records/verdict.hpp"

#include "records/kinds.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mmioscope::trace {

namespace {

std::string cpu_list(std::uint32_t cpus) {
    std::string list;
    for (unsigned cpu = 0; cpu < 32; ++cpu) {
        if ((cpus >> cpu & 1u) != 0) {
            list += list.empty() ? fmt::format("{}", cpu) : fmt::format(",{}", cpu);
        }
    }
    return list;
}

} // namespace

table::Table device_table(const Summary& summary, const ReportContext& context) {
    using enum table::Look;
    table::Table table{{{"", "device", device, 28},
                        {"", "reads", number, 10},
                        {"", "writes", number, 10},
                        {"", "cpus", words, 7, 0, "", ""},
                        {"", "first s", number, 12, 0, "", ""},
                        {"", "last s", number, 12, 0, "", ""}},
                       {}};
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    for (const auto& [device, count] : summary.devices()) {
        table.rows.push_back({(*context.names)[device], count.reads, count.writes,
                              cpu_list(count.cpus), format_time(count.first_time, context),
                              format_time(count.last_time, context)});
        reads += count.reads;
        writes += count.writes;
    }
    table.rows.push_back({std::string_view("total"), reads, writes, {}, {}, {}});
    return table;
}

std::string other_counts(const Summary& summary, std::span<const abi::Statistics> statistics,
                         bool own) {
    std::string lines;
    for (unsigned type = 2; type < 256; ++type) {
        const auto kind = static_cast<abi::RecordType>(type);
        if (summary.count(kind) > 0 && (own || kind != abi::RecordType::own)) {
            lines += fmt::format("{}{} {}", lines.empty() ? "other records: " : ", ",
                                 summary.count(kind), type_word(kind));
        }
    }
    lines += lines.empty() ? "" : "\n";
    for (std::size_t cpu = 0; cpu < statistics.size(); ++cpu) {
        const abi::Statistics& s = statistics[cpu];
        const std::string counted = fmt::format(
            "cpu {}: {} traps, {} stepped, {} emulated, {} unselected, "
            "{} retries, {} lock spins, {} abnormal\n",
            cpu, s.traps, s.stepped, s.emulated, s.unselected, s.retries, s.lock_spins, s.abnormal);
        lines += own ? counted : "";
        if (s.emulated_user > 0) {
            lines +=
                fmt::format("cpu {}: {} of the emulated accesses were of User mode; the bus saw "
                            "them as privileged\n",
                            cpu, s.emulated_user);
        }
    }
    return lines;
}

std::string not_printed_note(std::uint64_t events) {
    return events == 0 ? "" : fmt::format("... {} more events, not printed (use --all)\n", events);
}

std::string_view ending_text(abi::Ending ending) {
    static constexpr std::array<std::string_view, 10> words = {"the machine went off",
                                                               "interrupted",
                                                               "time limit reached",
                                                               "the hypervisor stopped",
                                                               "the emulator failed",
                                                               "the machine was reset",
                                                               "the stream broke off",
                                                               "goes on in the next file",
                                                               "the guest said what was awaited",
                                                               "the guest halted"};
    const auto index = static_cast<std::uint32_t>(ending);
    return index < words.size() ? words[index] : "unknown ending";
}

std::string_view incomplete_ending(abi::Ending ending) {
    switch (ending) {
    case abi::Ending::failed:
    case abi::Ending::panicked: return ending_text(ending);
    case abi::Ending::stream_ended: return "the stream broke off; the rest is not known";
    default: return "";
    }
}

std::string format_duration(std::uint64_t ticks, const ReportContext& context) {
    if (context.frequency == 0) {
        return fmt::format("{}t", ticks);
    }
    const Seconds time = seconds(ticks, context.frequency);
    return fmt::format("{}.{:06}", time.seconds, time.micros);
}

std::string format_time(std::uint64_t ticks, const ReportContext& context) {
    return format_duration(ticks - std::min(ticks, context.start), context);
}

bool is_cut(abi::Ending ending) {
    return ending == abi::Ending::interrupted || ending == abi::Ending::time_limit;
}

std::string verdict(const Summary& summary, std::span<const abi::Loss> losses,
                    const std::string& why_incomplete, std::optional<abi::Ending> ending,
                    const std::string& times, std::optional<std::uint64_t> lost_others) {
    const Lost lost{sum_of(losses), lost_others};
    const bool complete = lost.records == 0 && why_incomplete.empty();
    std::string line = fmt::format("{}complete: {} events, {}", complete ? "" : "in",
                                   summary.events(), text_of(lost));
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(losses.size(), most); ++i) {
        line += fmt::format("{}cpu {}: {} from sequence {}", i == 0 ? " (" : ", ", losses[i].cpu,
                            losses[i].count, losses[i].first_sequence);
    }
    line += losses.size() > most ? fmt::format(", {} more places", losses.size() - most) : "";
    line += losses.empty() ? "" : ")";
    line += why_incomplete.empty() ? "" : "; " + why_incomplete;
    line += times.empty() ? "" : "; " + times;
    return ending && is_cut(*ending)
               ? fmt::format("{}; the recording was cut: {}", line, ending_text(*ending))
               : line;
}

table::Cell others_cell(const Lost& lost) {
    return lost.records > 0 && lost.others ? table::Cell(*lost.others) : table::Cell();
}

Status status_of(abi::Ending ending, bool complete) {
    if (ending == abi::Ending::interrupted) {
        return Status::interrupted;
    }
    return complete && ending != abi::Ending::time_limit ? Status::fine : Status::failed;
}

} // namespace mmioscope::trace
