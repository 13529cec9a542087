// What the user has chosen on the screen of `top`: the table, its order, and where in it.
#pragma once

#include "analysis/rates.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::view {

/// What stands first; names from the first on, all else from the most on.
enum class TopOrder { rate, reads, writes, time, name };

std::string_view order_text(TopOrder order);

struct TopLook {
    analysis::Key key = analysis::Key::device;
    TopOrder order = TopOrder::rate;
    std::string device;     ///< whose registers are shown; empty: the table of `key`
    std::size_t cursor = 0; ///< a row
    std::size_t first = 0;  ///< the row on the screen's first line

    /// The table that this is a look at.
    analysis::Key table() const { return device.empty() ? key : analysis::Key::reg; }

    /// Those of `rates`, which are of table(), that it shows, in its order.
    std::vector<analysis::Rate> shown(std::span<const analysis::Rate> rates) const;

    /// Does what `key` (FullScreen::key()) is for: nothing, if it is for nothing here. `rows` are
    /// those it shows, `page` as many as have room.
    void press(int key, std::span<const analysis::Rate> rows, std::size_t page);

    /// The cursor is on one of `rows` rows, and on the screen.
    void keep_within(std::size_t rows, std::size_t page);
};

} // namespace mmioscope::view
