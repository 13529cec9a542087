// The screen of `top` as lines of text.
#pragma once

#include "analysis/rates.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::view {

/// What the first line tells of the trace.
struct TopHead {
    std::string name;
    std::string state;             ///< "", "paused", "ended"
    std::uint64_t nanoseconds = 0; ///< of the last event
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
    double per_second = 0;
};

/// At most `rows` lines of at most `columns` characters: head, keys, titles, and what there is room
/// for of `rates`.
std::vector<std::string> top_screen(const TopHead& head, analysis::Key key,
                                    const std::vector<analysis::Rate>& rates, std::size_t rows,
                                    std::size_t columns);

/// What a key chooses; nothing if it chooses no table.
std::optional<analysis::Key> chosen_by(int key);

} // namespace mmioscope::view
