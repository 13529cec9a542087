#include "report/script.hpp"

#include "diff/finding_tables.hpp"
#include "system/escape.hpp"
#include "system/text_buffer.hpp"
#include "table/json.hpp"
#include "table/table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mmioscope::report {

namespace {

constexpr std::size_t enough = 1 << 16;

template <typename... Args>
void print(Script& to, fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(to.text()), form, std::forward<Args>(args)...);
}

/// A number that becomes a string from 2^53 on: JavaScript's numbers are exact below.
struct Value {
    std::uint64_t value;
};

template <typename Number>
[[nodiscard]] TextCursor appended(TextCursor at, Number number) {
    if constexpr (std::is_same_v<Number, Value>) {
        if (number.value >> 53 == 0) {
            at.decimal(number.value);
        } else {
            at.append('"');
            at.hex(number.value);
            at.append('"');
        }
    } else if constexpr (std::is_signed_v<Number>) {
        if (number < 0) {
            at.append('-');
        }
        at.decimal(number < 0 ? -static_cast<std::uint64_t>(number)
                              : static_cast<std::uint64_t>(number));
    } else {
        at.decimal(number);
    }
    return at;
}

// Appends numbers, a comma in front of each, but not of the `first` of all. A page has up to a
// million: a format would cost ten times as much.
template <typename... Number>
void put_numbers(Script& to, bool first, Number... numbers) {
    constexpr std::size_t longest = 21; ///< with its comma
    std::array<char, sizeof...(numbers) * longest + TextCursor::slack> text;
    TextCursor at(text.data());
    ((at.append(','), at = appended(at, numbers)), ...);
    to.put(std::string_view(text.data(), at.at()).substr(first ? 1 : 0));
}

// Those that differ from the one before are mostly small.
std::int64_t less(std::uint64_t number, std::uint64_t before) {
    return static_cast<std::int64_t>(number - before);
}

bool is_number(table::Look look) {
    return look != table::Look::words && look != table::Look::device;
}

bool names_event(const table::Column& column) {
    return !column.title.empty() && column.name.ends_with("event");
}

void put_columns(Script& to, const table::Table& table) {
    to.put("{\"columns\":[");
    bool first = true;
    for (const table::Column& column : table.columns) {
        if (!column.title.empty()) {
            to.put(std::exchange(first, false) ? "{\"name\":" : ",{\"name\":");
            to.string(column.name);
            to.put(",\"title\":");
            to.string(column.title);
            to.put(is_number(column.look) ? ",\"number\":true}" : "}");
        }
    }
    to.put("]");
}

void put_fields(Script& to, const Register* reg) {
    to.put(",\"fields\":[");
    for (std::size_t i = 0; reg != nullptr && i < reg->fields.size(); ++i) {
        const Field& field = reg->fields[i];
        to.put(i == 0 ? "{\"name\":" : ",{\"name\":");
        to.string(field.name);
        print(to, ",\"low\":{},\"width\":{},\"values\":[", field.low, field.width);
        for (std::size_t j = 0; j < field.values.size(); ++j) {
            to.put(j == 0 ? "[0" : ",[0");
            put_numbers(to, false, Value{field.values[j].first});
            to.put(",");
            to.string(field.values[j].second);
            to.put("]");
        }
        to.put("]}");
    }
    to.put("]");
}

} // namespace

void Script::string(std::string_view text) {
    append_json(text_, text);
}

void Script::settle() {
    if (text_.size() >= enough) {
        flush();
    }
}

void Script::flush() {
    std::string_view rest(text_.data(), text_.size());
    while (!rest.empty()) {
        const std::size_t at = std::min(rest.find('<'), rest.size());
        write_(rest.substr(0, at));
        rest.remove_prefix(at);
        if (!rest.empty()) {
            write_("\\u003c");
            rest.remove_prefix(1);
        }
    }
    text_.clear();
}

void put_table(Script& to, const table::Table& table, std::vector<std::uint64_t>& events) {
    put_columns(to, table);
    to.put(",\"rows\":[");
    std::size_t rows = 0;
    table::each_row(table, [&](const table::Row& row) {
        if (rows++ >= most_rows) {
            return;
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto* const number = std::get_if<std::uint64_t>(&row[i]);
            if (number != nullptr && rows <= rows_with_excerpts && names_event(table.columns[i])) {
                events.push_back(*number);
            }
        }
        to.put(rows == 1 ? "[" : ",[");
        bool first = true;
        for (const std::string& cell : table::shown(table, row)) {
            to.put(std::exchange(first, false) ? "" : ",");
            to.string(cell);
        }
        to.put("]");
        to.settle();
    });
    std::string closing =
        rows > most_rows ? fmt::format("... {} more", rows - most_rows) : table.closing;
    for (const std::string& line : table.left_out) {
        closing += closing.empty() ? line : '\n' + line;
    }
    to.put("],\"closing\":");
    to.string(closing);
    to.put("}");
}

void put_lanes(Script& to, const Timeline& timeline) {
    to.put("[");
    bool first = true;
    for (const Timeline::Lane* lane : timeline.lanes()) {
        to.put(std::exchange(first, false) ? "{\"device\":" : ",{\"device\":");
        to.string(lane->device);
        print(to, ",\"cpu\":{},\"width\":{},\"cells\":[", lane->cpu, lane->buckets.width());
        Accesses before;
        for (const Accesses& cell : lane->buckets.cells()) {
            put_numbers(to, &cell == &lane->buckets.cells().front(), less(cell.begin, before.begin),
                        cell.end - cell.begin, cell.reads, cell.writes, cell.ticks, cell.longest,
                        less(cell.event, before.event));
            before = cell;
        }
        to.put("]}");
        to.settle();
    }
    to.put("]");
}

void put_marks(Script& to, const Timeline& timeline) {
    to.put("[");
    for (const Mark& mark : timeline.marks()) {
        print(to, "{}[{},{},", &mark == &timeline.marks().front() ? "" : ",", mark.nanoseconds,
              mark.event);
        to.string(mark.text);
        to.put("]");
    }
    to.put("]");
}

void put_values(Script& to, const Values& values) {
    to.put("[");
    bool first = true;
    for (const auto& [place, series] : values.series()) {
        to.put(std::exchange(first, false) ? "{\"device\":" : ",{\"device\":");
        to.string(series.device);
        to.put(",\"register\":");
        to.string(series.name);
        print(to, ",\"width\":{}", series.buckets.width());
        put_fields(to, series.reg);
        to.put(",\"cells\":[");
        std::uint64_t before = 0;
        for (const Seen& cell : series.buckets.cells()) {
            put_numbers(to, &cell == &series.buckets.cells().front(), less(cell.begin, before),
                        cell.end - cell.begin, cell.event, Value{cell.least}, Value{cell.most},
                        Value{cell.ones}, Value{cell.zeros}, Value{cell.last}, cell.reads,
                        cell.writes);
            before = cell.begin;
        }
        to.put("]}");
        to.settle();
    }
    to.put("]");
}

void put_findings(Script& to, std::span<const diff::Finding> findings,
                  std::span<const std::string> notes) {
    const auto member = [&to](std::string_view key, std::string_view text) {
        to.put(key);
        to.string(text);
    };
    const auto lines = [&to](std::string_view key, std::span<const std::string> all) {
        to.put(key);
        for (const std::string& line : all) {
            to.put(&line == &all.front() ? "" : ",");
            to.string(line);
        }
        to.put("]");
    };
    const auto side = [&](std::string_view key, const diff::Side& one) {
        to.put(key);
        lines("{\"lines\":[", one.lines);
        print(to, ",\"event\":{}}}", one.event);
    };
    member("{\"verdict\":", diff::verdict(findings));
    lines(",\"notes\":[", notes);
    to.put(",\"findings\":[");
    for (const diff::Finding& finding : findings.first(std::min(findings.size(), most_rows))) {
        member(&finding == &findings.front() ? "{\"tier\":" : ",{\"tier\":",
               diff::tier_text(finding.tier));
        member(",\"kind\":", finding.kind);
        member(",\"device\":", finding.device);
        member(",\"register\":", finding.reg);
        member(",\"function\":", finding.function);
        member(",\"difference\":", finding.difference);
        side(",\"a\":", finding.a);
        side(",\"b\":", finding.b);
        to.put("}");
        to.settle();
    }
    to.put("]}");
}

} // namespace mmioscope::report
