// What the user has chosen on the screen of `top`: the table, its order, and where in it.
#pragma once

#include "analysis/rates.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::view {

/// "rate", "reads", "writes", "time", "name".
std::string_view order_text(analysis::Order order);

struct TopLook {
    analysis::Key key = analysis::Key::device;
    analysis::Order order = analysis::Order::accesses;
    std::string device;     ///< whose registers are shown; empty: the table of `key`
    std::size_t cursor = 0; ///< a row
    std::size_t first = 0;  ///< the row on the screen's first line

    /// The table that this is a look at, and what of it.
    analysis::Key table() const { return device.empty() ? key : analysis::Key::reg; }
    analysis::RateChoice choice() const { return {order, device.empty() ? "" : device + ' '}; }

    /// Does what `key` (FullScreen::key()) is for: nothing, if it is for nothing here. `rows` are
    /// those it shows, `page` as many as have room.
    void press(int key, std::span<const analysis::Rate> rows, std::size_t page);

    /// The cursor is on one of `rows` rows, and on the screen.
    void keep_within(std::size_t rows, std::size_t page);
};

} // namespace mmioscope::view
