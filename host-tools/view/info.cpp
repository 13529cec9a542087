#include "view/info.hpp"

#include "abi/container.hpp"
#include "file/part_files.hpp"
#include "reading/tally.hpp"
#include "records/losses.hpp"
#include "records/record_text.hpp"
#include "records/ticks.hpp"
#include "registers/interrupt_names.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace mmioscope::view {

namespace {

using registers::CoverageCount;
using table::Cell;

std::vector<Cell> row(Cell name, const CoverageCount& count) {
    const auto percent = [&count](std::uint64_t part) {
        return count.touched == 0
                   ? 100.0
                   : 100.0 * static_cast<double>(part) / static_cast<double>(count.touched);
    };
    return {std::string_view("coverage"), std::move(name), count.touched,      count.device,
            percent(count.device),        count.reg,       percent(count.reg), count.field,
            percent(count.field)};
}

std::string_view lack(const registers::Touched& touched) {
    return !touched.device ? "device" : !touched.reg ? "register" : "field";
}

} // namespace

table::Table coverage_table(const registers::Coverage& coverage) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "named to the", words, 12, 0, "", "total"},
                        {"touched", "touched", number, 9},
                        {"device"},
                        {"", "device", number, 10, 1, " %"},
                        {"register"},
                        {"", "register", number, 10, 1, " %"},
                        {"field"},
                        {"", "field", number, 10, 1, " %"}},
                       {}};
    for (const auto& [name, count] : coverage.devices()) {
        table.rows.push_back(row(name, count));
    }
    table.rows.push_back(row(Cell(), coverage.total()));
    return table;
}

table::Table unnamed_table(const registers::Coverage& coverage) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "device", words, 12},
                        {"offset", "offset", number, 7, 3},
                        {"reads", "reads", number, 9},
                        {"writes", "writes", number, 9},
                        {"lacks", "lacks"}},
                       {}};
    for (const auto& [place, touched] : coverage.unnamed()) {
        table.rows.push_back({std::string_view("unnamed"), place.first, table::Hex{place.second},
                              touched.reads, touched.writes, lack(touched)});
    }
    return table;
}

namespace {

// Interrupts belong to the node, so only its first region shows them. Empty: none.
std::string interrupts_text(const tree::TreeNodes& nodes, const registers::Device& device) {
    std::string text;
    if (device.reg_index == 0 && device.node != tree::TreeNodes::none) {
        for (const auto& interrupt : registers::interrupts_of(nodes, device.node)) {
            text += fmt::format("{}{}", text.empty() ? "" : ",", interrupt.id);
        }
    }
    return text;
}

std::string_view traced_text(const registers::Device& device, bool changed) {
    return changed ? "changed" : device.traced ? "yes" : device.disabled ? "off" : "no";
}

table::Cell if_any(std::string text) {
    return text.empty() ? table::Cell() : table::Cell(std::move(text));
}

} // namespace

table::Table device_table(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                          const trace::Selections& selections) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "device", words, 12},
                        {"", "traced", words, 7},
                        {"address", "address", number, 11, 8},
                        {"size", "size", size, 9},
                        {"interrupts", "interrupts", words, 12},
                        {"", "compatible", words, 28},
                        {"compatible"},
                        {"path", "path"},
                        {"traced"},
                        {"alias"}},
                       {}};
    const tree::TreeNodes nodes(devices.tree());
    for (const registers::Device& device : devices.devices()) {
        const auto index = static_cast<std::uint16_t>(table.rows.size());
        const std::string_view traced = traced_text(device, selections.of(index) != nullptr);
        table.rows.push_back({std::string_view("device"), std::string(reader.names()[index]),
                              traced, table::Hex{device.range.base}, table::Hex{device.range.size},
                              if_any(interrupts_text(nodes, device)),
                              if_any(device.compatible.empty() ? "" : device.compatible.front()),
                              if_any(fmt::format("{}", fmt::join(device.compatible, " "))),
                              if_any(device.path), traced, if_any(device.alias)});
    }
    return table;
}

namespace {

using table::Cell;
using table::Table;

Cell plain(const Cell& cell) {
    const std::string* const text = std::get_if<std::string>(&cell);
    return text != nullptr ? Cell(printable(*text)) : cell;
}

void append(Table& to, const Table& from, const std::vector<Cell>& row) {
    Cell about;
    Cell name;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string_view property = from.columns[i].name;
        if (property == "about") {
            about = row[i];
        } else if (property == "name") {
            name = plain(row[i]);
        } else if (!property.empty() && !std::holds_alternative<std::monostate>(row[i])) {
            to.rows.push_back({about, name, property, plain(row[i])});
        }
    }
}

} // namespace

std::string property_csv(std::span<const Table> tables) {
    Table all{{{"about"}, {"name"}, {"property"}, {"value"}}, {}};
    for (const Table& table : tables) {
        for (const std::vector<Cell>& row : table.rows) {
            append(all, table, row);
        }
    }
    return table::csv(std::span(&all, 1));
}

namespace {

using table::Cell;
using trace::ReportContext;
using trace::Traced;
using trace::TracedHistory;

std::string_view word(Traced traced) {
    return traced == Traced::yes ? "yes" : traced == Traced::no ? "no" : "in part";
}

/// The part of a history to show: its first changes, and the last one.
struct Shown {
    explicit Shown(const TracedHistory& history) {
        const bool all = history.count == history.first.size();
        first = std::span(history.first).first(history.first.size() - (all ? 0 : 1));
        last = all ? nullptr : &history.last;
        left_out = all ? 0 : history.count - first.size() - 1;
    }

    std::span<const TracedHistory::Change> first;
    const TracedHistory::Change* last; ///< null: it is among the first
    std::uint64_t left_out;            ///< changes in between
};

/// Calls `take` with the name and the history of each region that changed.
template <typename Take>
void each(const trace::Selections& selections, const ReportContext& context, std::size_t regions,
          const Take& take) {
    for (std::size_t i = 0; i < regions; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        if (const TracedHistory* const history = selections.of(index)) {
            take((*context.names)[index], *history);
        }
    }
    if (selections.of_all() != nullptr) {
        take("all", *selections.of_all());
    }
}

std::vector<Cell> row(std::string_view name, Traced now, Cell from = {}, Cell left_out = {}) {
    return {std::string_view("selection"), std::string(name), word(now), std::move(from),
            std::move(left_out)};
}

void append(table::Table& to, std::string_view name, const TracedHistory& history,
            const ReportContext& context) {
    const auto since = [&context](std::uint64_t time) {
        return trace::nanoseconds(time - std::min(time, context.start), context.frequency);
    };
    const Shown shown(history);
    to.rows.push_back(row(name, history.at_first));
    for (const TracedHistory::Change& change : shown.first) {
        to.rows.push_back(row(name, change.now, since(change.time)));
    }
    if (shown.last != nullptr) {
        to.rows.push_back(row(name, shown.last->now, since(shown.last->time), shown.left_out));
    }
}

} // namespace

table::Table selection_table(const trace::Selections& selections, const ReportContext& context,
                             std::size_t regions) {
    using enum table::Look;
    const bool ticks = context.frequency == 0;
    table::Table table{
        {{"about"},
         {"name", "changed", words, 12},
         {"traced", "traced", words, 7},
         {"from_ns", ticks ? "from tick" : "from s", ticks ? number : seconds, 12, 0, "", ""},
         {"left_out", "left out before", number, 0, 0, " changes", ""}},
        {}};
    each(selections, context, regions, [&](std::string_view name, const TracedHistory& history) {
        append(table, name, history, context);
    });
    return table;
}

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
