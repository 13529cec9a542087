#include "view/check_table.hpp"

#include "records/report.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace mmioscope::view {

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

} // namespace mmioscope::view
