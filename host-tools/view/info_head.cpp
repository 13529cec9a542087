#include "abi/container.hpp"
#include "file/part_files.hpp"
#include "reading/tally.hpp"
#include "records/losses.hpp"
#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "view/info.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace mmioscope::view {

// Words for numbers in a trace file.

/// "shadow", ...; "unknown" for values newer than this program. The same holds for section_word().
std::string_view engine_word(abi::EngineKind engine);

/// "device tree", ...
std::string_view section_word(abi::SectionType type);

namespace {

using enum table::Look;
using table::Cell;
using table::Table;
using trace::TraceReader;

// The section `info` has the number of CPUs.
bool shown_elsewhere(std::string_view key) {
    return key == "cpus" || key == trace::lost_others_key;
}

bool damaged(const TraceReader& reader) {
    return reader.end() && !reader.sound();
}

Cell ending(const TraceReader& reader) {
    if (!reader.end()) {
        return std::string_view("not known: the file is cut off");
    }
    std::string words(reader.ending() ? trace::ending_text(*reader.ending()) : "");
    if (damaged(reader)) {
        words += words.empty() ? "" : "; ";
        words += "the file is damaged";
    }
    if (!reader.missing_part().empty()) {
        words += "; " + trace::missing_part_text(reader);
    }
    return words.empty() ? Cell() : Cell(std::move(words));
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

/// A table of one row, built cell by cell.
class Facts {
public:
    void add(const table::Column& column, Cell cell) {
        table_.columns.push_back(column);
        table_.rows.front().push_back(std::move(cell));
    }
    Table take() { return std::move(table_); }

private:
    Table table_{{}, {{}}, table::Shape::facts};
};

void add_machine(Facts& to, const TraceReader& reader, const abi::Info& info) {
    const auto add = [&to, &reader](const table::Column& column, Cell cell) {
        if (reader.knows(column.title)) {
            to.add(column, std::move(cell));
        }
    };
    add({"board", "board"}, std::string(info.board, ::strnlen(info.board, sizeof info.board)));
    add({"cpus", "cpus"}, std::uint64_t{info.cpu_count});
    add({"engine", "engine"}, engine_word(info.engine));
    add({"policy", "policy"}, trace::policy_text(info.policy));
    add({"boot_id", "boot id"}, fmt::format("{:02x}", fmt::join(info.boot_id, "")));
    add({"clock_hz", "clock", number, 0, 0, " Hz"}, std::uint64_t{info.counter_frequency});
}

Table trace_table(const TraceReader& reader, const trace::Summary& summary,
                  std::uint64_t nanoseconds) {
    Facts facts;
    facts.add({"about"}, std::string_view("trace"));
    const auto [major, minor] = reader.version();
    facts.add({"format"}, fmt::format("{}.{}", major, minor));
    facts.add({"", "format"}, fmt::format("mmioscope trace {}.{}", major, minor));
    if (reader.info()) {
        add_machine(facts, reader, *reader.info());
    }
    if (reader.parts() > 1) {
        facts.add({"files", "files"}, reader.parts());
    }
    if (reader.knows("time")) {
        facts.add({"duration_ns", "duration", seconds, 0, 0, " s"}, nanoseconds);
    }
    facts.add({"accesses", "accesses"}, summary.events());
    facts.add({"records", "records"}, summary.records());
    const trace::Lost lost = reader.lost();
    const bool kinds = lost.records > 0 && lost.others;
    facts.add({"lost", "lost", number, 0, 0, kinds ? " accesses" : " records"}, lost.events());
    facts.add({"lost_others", "lost", number, 0, 0, " other records"}, trace::others_cell(lost));
    facts.add({"ended"}, reader.ending() ? Cell(trace::ending_text(*reader.ending())) : Cell());
    facts.add({"", "ended"}, ending(reader));
    const std::string& missing = reader.missing_part();
    facts.add({"missing_file"}, missing.empty() ? Cell() : Cell(missing));
    facts.add({"cut"}, !reader.end());
    facts.add({"damaged"}, damaged(reader));
    facts.add({"whole"}, reading::is_whole(reader));
    facts.add({"", "sections"}, sections(reader));
    return facts.take();
}

Table text_table(const TraceReader& reader) {
    Table table{
        {{"about"}, {"name", "key", words, 13}, {"value", "value"}}, {}, table::Shape::bare};
    for (const auto& [key, value] : reader.text()) {
        if (!shown_elsewhere(key)) {
            table.rows.push_back({std::string_view("text"), key, value});
        }
    }
    return table;
}

Table loss_table(const TraceReader& reader) {
    Table table{
        {{"about"}, {"cpu"}, {"first_sequence"}, {"count"}, {"", "of", words, 13}, {"", "what"}},
        {},
        table::Shape::bare};
    for (const abi::Loss& loss : reader.losses()) {
        table.rows.push_back({std::string_view("loss"), std::uint64_t{loss.cpu},
                              std::uint64_t{loss.first_sequence}, std::uint64_t{loss.count},
                              fmt::format("lost cpu {}", loss.cpu),
                              fmt::format("{} from sequence {}", loss.count, loss.first_sequence)});
    }
    return table;
}

// People see this in the table of the trace.
Table section_table(const TraceReader& reader) {
    Table table{{{"about"}, {"name"}, {"count"}}, {}};
    for (const auto& [type, count] : reader.sections()) {
        table.rows.push_back(
            {std::string_view("section"), section_word(type), std::uint64_t{count}});
    }
    return table;
}

} // namespace

std::vector<Table> head_tables(const TraceReader& reader, const trace::Summary& summary,
                               std::uint64_t nanoseconds) {
    return {trace_table(reader, summary, nanoseconds), text_table(reader), loss_table(reader),
            section_table(reader)};
}

std::string_view engine_word(abi::EngineKind engine) {
    switch (engine) {
    case abi::EngineKind::shadow: return "shadow";
    case abi::EngineKind::emulation: return "emulation";
    case abi::EngineKind::unprotect: return "unprotect";
    }
    return "unknown";
}

std::string_view section_word(abi::SectionType type) {
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
    case 17: return "frames";
    case 12: return "modules";
    case 13: return "tasks";
    case 14: return "console";
    case 15: return "callers";
    case 16: return "packed";
    default: return "unknown";
    }
}

} // namespace mmioscope::view
