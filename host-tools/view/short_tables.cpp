#include "view/short_tables.hpp"

#include "view/column_line.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope::view {

namespace {

// `text` is a device's name, or begins with one and a blank: a register follows. Names from a
// hostile tree may contain blanks, so the longest one counts.
std::string short_text(std::string_view text, const tree::ShortNames& names) {
    for (std::size_t end = text.size(); end != std::string_view::npos && end > 0;
         end = text.rfind(' ', end - 1)) {
        if (const auto found = names.find(text.substr(0, end)); found != names.end()) {
            return found->second + std::string(text.substr(end));
        }
    }
    return std::string(text);
}

void shorten(table::Cell& cell, const tree::ShortNames& names) {
    if (const auto* const text = std::get_if<std::string>(&cell)) {
        cell = short_text(*text, names);
    } else if (const auto* const view = std::get_if<std::string_view>(&cell)) {
        cell = short_text(*view, names);
    }
}

} // namespace

table::Table shortened(table::Table table, const tree::ShortNames& names) {
    if (names.empty()) {
        return table;
    }
    std::vector<std::size_t> of_devices; // indices of columns
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].look == table::Look::device) {
            of_devices.push_back(i);
        }
    }
    const auto shorten_row = [of_devices, names](table::Row& row) {
        for (const std::size_t i : of_devices) {
            shorten(row[i], names);
        }
    };
    for (table::Row& row : table.rows) {
        shorten_row(row);
    }
    if (table.more) {
        table.more = [more = std::move(table.more), shorten_row](const table::TakeRow& take) {
            more([&](table::Row row) {
                shorten_row(row);
                take(row);
            });
        };
    }
    return table;
}

std::string fitted_text(const table::Table& table, const tree::ShortNames& names,
                        std::size_t width) {
    return table::text(width == table::unlimited ? table : shortened(table, names), width);
}

namespace {

std::string_view verdict(const trace::CheckResult& result) {
    if (result.sound()) {
        return "sound";
    }
    return result.cut ? "cut" : result.lossy ? "lossy" : "damaged";
}

std::vector<std::string> problems(const trace::CheckResult& result) {
    std::vector<std::string> all = result.problems;
    if (result.more_problems > 0) {
        all.push_back(fmt::format("... and {} more", result.more_problems));
    }
    return all;
}

} // namespace

table::Table check_table() {
    return {{{"file"},
             {"verdict"},
             {"records"},
             {"sections"},
             {"lost"},
             {"problem"},
             {"", "line"},
             {"lost_others"}},
            {},
            table::Shape::bare};
}

void append(table::Table& to, const std::string& file, const trace::CheckResult& result) {
    for (const std::string& problem : problems(result)) {
        to.rows.push_back(
            {file, {}, {}, {}, {}, problem, fmt::format("{}: {}", file, problem), {}});
    }
    const std::string_view word = verdict(result);
    to.rows.push_back({file, word, result.records, result.sections, result.lost.events(),
                       result.times.empty() ? table::Cell() : table::Cell(result.times),
                       fmt::format("{}: {}: {} records in {} sections, {}{}{}", file, word,
                                   result.records, result.sections, trace::text_of(result.lost),
                                   result.times.empty() ? "" : "; ", result.times),
                       trace::others_cell(result.lost)});
}

trace::ReportContext report_context(const trace::TraceReader& reader, std::uint64_t start) {
    return {&reader.names(), start, reader.info() ? reader.info()->counter_frequency : 0};
}

std::string end_tables(const trace::Summary& summary, const trace::TraceReader& reader,
                       std::size_t width, bool own) {
    const trace::ReportContext context = report_context(reader, reader.start().value_or(0));
    std::string text =
        fitted_text(device_table(summary, context), short_names(reader, width), width) +
        other_counts(summary, reader.statistics(), own);
    if (reader.ending()) {
        text += fmt::format("recording ended: {}\n", trace::ending_text(*reader.ending()));
    }
    return text;
}

} // namespace mmioscope::view
