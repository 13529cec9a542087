// The list of formats in --help, for exports and imports.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace mmioscope::cli {

/// One line for each row with a name and a help text.
template <typename Rows>
std::string lines_of(const Rows& formats) {
    std::string lines = "\nFORMAT is one of:\n";
    for (const auto& format : formats) {
        lines += fmt::format("  {:<10} {}\n", format.name, format.help);
    }
    return lines;
}

template <typename Rows>
std::vector<std::string> names_of(const Rows& formats) {
    std::vector<std::string> names;
    for (const auto& format : formats) {
        names.emplace_back(format.name);
    }
    return names;
}

} // namespace mmioscope::cli
