// The screen of `top` as lines of text.
#pragma once

#include "analysis/rates.hpp"
#include "tree/short_names.hpp"
#include "view/top_look.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::view {

/// What the screen shows of the trace besides counts.
struct TopHead {
    std::string name;
    std::string state;             ///< "", "paused", "ended"
    std::uint64_t nanoseconds = 0; ///< of the last event
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    double per_second = 0;
    tree::ShortNames short_names = {}; ///< of devices; empty: rows have whole names
};

/// Lines before the rows: head, keys, titles. After them: the total.
inline constexpr std::size_t top_titles_line = 2;
inline constexpr std::size_t top_first_row = 3;

/// The number of table rows on a screen of `rows` lines.
constexpr std::size_t top_page(std::size_t rows) {
    return rows > top_first_row + 1 ? rows - top_first_row - 1 : 0;
}

/// At most `rows` lines of at most `columns` characters: the rows of `shown` that fit, from
/// `look.first` on, and the total of all. `look` has selected `shown`.
std::vector<std::string> top_screen(const TopHead& head, const TopLook& look,
                                    const analysis::ShownRates& shown, std::size_t rows,
                                    std::size_t columns);

} // namespace mmioscope::view
