#include "info/text.hpp"
#include "lib/lost.hpp"
#include "lib/plain_text.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"

#include <fmt/format.h>

#include <cstring>

namespace mmioscope::info {

namespace {

using trace::TraceReader;

std::string line(std::string_view key, const std::string& value) {
    return fmt::format("{:<14}{}\n", printable(key), printable(value));
}

std::string_view engine_text(abi::EngineKind engine) {
    switch (engine) {
    case abi::EngineKind::shadow: return "shadow";
    case abi::EngineKind::emulation: return "emulation";
    case abi::EngineKind::unprotect: return "unprotect";
    }
    return "unknown";
}

std::string_view section_text(abi::SectionType type) {
    switch (static_cast<std::uint32_t>(type)) {
    case 1: return "info";
    case 2: return "device tree";
    case 3: return "regions";
    case 4: return "records";
    case 5: return "losses";
    case 6: return "statistics";
    case 7: return "text";
    case 8: return "end";
    case 9: return "previous boot";
    case 10: return "index";
    case 11: return "symbols";
    case 12: return "modules";
    case 13: return "tasks";
    case 14: return "console";
    case 15: return "callers";
    default: return "unknown";
    }
}

std::string sections(const TraceReader& reader) {
    std::string list;
    for (const auto& [type, count] : reader.sections()) {
        list += list.empty() ? "" : ", ";
        list += section_text(type);
        list += count > 1 ? fmt::format(" ({})", count) : "";
    }
    return list;
}

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

std::string about_machine(const TraceReader& reader) {
    const abi::Info& info = *reader.info();
    const std::pair<std::string_view, std::string> lines[] = {
        {"board", std::string(info.board, ::strnlen(info.board, sizeof info.board))},
        {"cpus", std::to_string(info.cpu_count)},
        {"engine", std::string(engine_text(info.engine))},
        {"policy", std::string(trace::policy_text(info.policy))},
        {"boot id", hexadecimal(info.boot_id)},
        {"clock", fmt::format("{} Hz", info.counter_frequency)}};
    std::string text;
    for (const auto& [key, value] : lines) {
        text += reader.knows(key) ? line(key, value) : "";
    }
    return text;
}

std::string losses(const TraceReader& reader) {
    std::string text = line("lost", fmt::format("{} records", trace::sum_of(reader.losses())));
    for (const abi::Loss& loss : reader.losses()) {
        text += line("", fmt::format("cpu {}: {} from sequence {}", loss.cpu, loss.count,
                                     loss.first_sequence));
    }
    return text;
}

std::string ending(const TraceReader& reader) {
    if (!reader.end()) {
        return line("ended", "not known: the file is cut off");
    }
    std::string words(reader.ending() ? trace::ending_text(*reader.ending()) : "");
    if (!reader.sound()) {
        words += words.empty() ? "" : "; ";
        words += "the file is damaged";
    }
    return words.empty() ? "" : line("ended", words);
}

} // namespace

std::string head_text(const TraceReader& reader, const trace::Summary& summary,
                      std::uint64_t nanoseconds) {
    std::string text = line("format", fmt::format("mmioscope trace {}.{}", reader.version().major,
                                                  reader.version().minor));
    text += reader.info() ? about_machine(reader) : "";
    for (const auto& [key, value] : reader.text()) {
        text += key == "cpus" ? "" : line(key, value);
    }
    if (reader.knows("time")) {
        text += line("duration", fmt::format("{}.{:06} s", nanoseconds / 1'000'000'000,
                                             nanoseconds % 1'000'000'000 / 1'000));
    }
    text += line("accesses", std::to_string(summary.events()));
    text += line("records", std::to_string(summary.records()));
    text += losses(reader);
    text += ending(reader);
    return text + line("sections", sections(reader));
}

} // namespace mmioscope::info
