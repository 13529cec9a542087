#include "view/check_table.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace mmioscope::view {

namespace {

using exporting::Cell;

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

std::string check_text(const std::string& file, const trace::CheckResult& result) {
    std::string text;
    for (const std::string& problem : problems(result)) {
        text += fmt::format("{}: {}\n", file, problem);
    }
    return text + fmt::format("{}: {}: {} records in {} sections, {} lost\n", file, verdict(result),
                              result.records, result.sections, result.lost);
}

exporting::Table check_table() {
    return {{"file", "verdict", "records", "sections", "lost", "problem"}, {}};
}

void append(exporting::Table& to, const std::string& file, const trace::CheckResult& result) {
    for (std::string& problem : problems(result)) {
        to.rows.push_back({file, Cell(), Cell(), Cell(), Cell(), std::move(problem)});
    }
    to.rows.push_back(
        {file, verdict(result), result.records, result.sections, result.lost, Cell()});
}

} // namespace mmioscope::view
