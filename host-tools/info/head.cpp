#include "info/items.hpp"
#include "info/text.hpp"
#include "info/words.hpp"
#include "lib/lost.hpp"
#include "lib/part_files.hpp"
#include "lib/plain_text.hpp"
#include "lib/record_text.hpp"
#include "lib/report.hpp"
#include "view/tally.hpp"

#include <fmt/format.h>

#include <cstring>

namespace mmioscope::info {

namespace {

using exporting::Cell;
using trace::TraceReader;

std::string line(std::string_view key, const std::string& value) {
    return fmt::format("{:<13} {}\n", printable(key), printable(value));
}

/// A line for people, a property for programs.
struct Fact {
    std::string_view key;
    std::string text;
    std::string_view property;
    Cell value;
};
using Facts = std::vector<Fact>;

Facts about_format(const TraceReader& reader) {
    const std::string version =
        fmt::format("{}.{}", reader.version().major, reader.version().minor);
    return {{"format", "mmioscope trace " + version, "format", version}};
}

Facts about_machine(const TraceReader& reader) {
    if (!reader.info()) {
        return {};
    }
    const abi::Info& info = *reader.info();
    const std::string board(info.board, ::strnlen(info.board, sizeof info.board));
    const std::string id = fmt::format("{:02x}", fmt::join(info.boot_id, ""));
    const std::string engine(engine_word(info.engine));
    const std::string policy(trace::policy_text(info.policy));
    const std::uint64_t frequency = info.counter_frequency;
    Facts facts = {{"board", board, "board", board},
                   {"cpus", std::to_string(info.cpu_count), "cpus", std::uint64_t{info.cpu_count}},
                   {"engine", engine, "engine", engine},
                   {"policy", policy, "policy", policy},
                   {"boot id", id, "boot_id", id},
                   {"clock", fmt::format("{} Hz", frequency), "clock_hz", frequency}};
    std::erase_if(facts, [&reader](const Fact& fact) { return !reader.knows(fact.key); });
    return facts;
}

Facts about_records(const TraceReader& reader, const trace::Summary& summary,
                    std::uint64_t nanoseconds) {
    Facts facts;
    if (reader.parts() > 1) {
        facts.push_back({"files", std::to_string(reader.parts()), "files", reader.parts()});
    }
    if (reader.knows("time")) {
        facts.push_back({"duration",
                         fmt::format("{}.{:06} s", nanoseconds / 1'000'000'000,
                                     nanoseconds % 1'000'000'000 / 1'000),
                         "duration_ns", nanoseconds});
    }
    const std::uint64_t lost = trace::sum_of(reader.losses());
    facts.push_back({"accesses", std::to_string(summary.events()), "accesses", summary.events()});
    facts.push_back({"records", std::to_string(summary.records()), "records", summary.records()});
    facts.push_back({"lost", fmt::format("{} records", lost), "lost", lost});
    return facts;
}

std::string lines(const Facts& facts) {
    std::string text;
    for (const Fact& fact : facts) {
        text += line(fact.key, fact.text);
    }
    return text;
}

void append(Item& to, Facts facts) {
    for (Fact& fact : facts) {
        to.properties.emplace_back(fact.property, std::move(fact.value));
    }
}

// The number of CPUs is of the section `info`.
bool told_elsewhere(std::string_view key) {
    return key == "cpus";
}

bool damaged(const TraceReader& reader) {
    return reader.end() && !reader.sound();
}

std::string ending(const TraceReader& reader) {
    if (!reader.end()) {
        return line("ended", "not known: the file is cut off");
    }
    std::string words(reader.ending() ? trace::ending_text(*reader.ending()) : "");
    if (damaged(reader)) {
        words += words.empty() ? "" : "; ";
        words += "the file is damaged";
    }
    if (!reader.missing_part().empty()) {
        words += "; " + trace::missing_part_text(reader);
    }
    return words.empty() ? "" : line("ended", words);
}

std::string losses(const TraceReader& reader) {
    std::string text;
    for (const abi::Loss& loss : reader.losses()) {
        text += line("", fmt::format("cpu {}: {} from sequence {}", loss.cpu, loss.count,
                                     loss.first_sequence));
    }
    return text;
}

std::string sections(const TraceReader& reader) {
    std::string list;
    for (const auto& [type, count] : reader.sections()) {
        list += list.empty() ? "" : ", ";
        list += section_word(type);
        list += count > 1 ? fmt::format(" ({})", count) : "";
    }
    return list;
}

Item trace_item(const TraceReader& reader, const trace::Summary& summary,
                std::uint64_t nanoseconds) {
    Item item{"trace", "", {}};
    append(item, about_format(reader));
    append(item, about_machine(reader));
    append(item, about_records(reader, summary, nanoseconds));
    item.properties.emplace_back(
        "ended", reader.ending() ? Cell(trace::ending_text(*reader.ending())) : Cell());
    const std::string& missing = reader.missing_part();
    item.properties.emplace_back("missing_file", missing.empty() ? Cell() : Cell(missing));
    item.properties.emplace_back("cut", !reader.end());
    item.properties.emplace_back("damaged", damaged(reader));
    item.properties.emplace_back("whole", view::is_whole(reader));
    return item;
}

Item loss_item(const abi::Loss& loss) {
    return {"loss",
            "",
            {{"cpu", std::uint64_t{loss.cpu}},
             {"first_sequence", std::uint64_t{loss.first_sequence}},
             {"count", std::uint64_t{loss.count}}}};
}

} // namespace

std::string head_text(const TraceReader& reader, const trace::Summary& summary,
                      std::uint64_t nanoseconds) {
    std::string text = lines(about_format(reader)) + lines(about_machine(reader));
    for (const auto& [key, value] : reader.text()) {
        text += told_elsewhere(key) ? "" : line(key, value);
    }
    text += lines(about_records(reader, summary, nanoseconds));
    return text + losses(reader) + ending(reader) + line("sections", sections(reader));
}

Items head_items(const TraceReader& reader, const trace::Summary& summary,
                 std::uint64_t nanoseconds) {
    Items items{trace_item(reader, summary, nanoseconds)};
    for (const auto& [key, value] : reader.text()) {
        if (!told_elsewhere(key)) {
            items.push_back({"text", key, {{"value", value}}});
        }
    }
    for (const abi::Loss& loss : reader.losses()) {
        items.push_back(loss_item(loss));
    }
    for (const auto& [type, count] : reader.sections()) {
        items.push_back(
            {"section", std::string(section_word(type)), {{"count", std::uint64_t{count}}}});
    }
    return items;
}

} // namespace mmioscope::info
