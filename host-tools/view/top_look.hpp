// The user's choices on the screen of `top`: the table, its order, and the position in it.
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
    std::string device;     ///< shows its registers; empty: shows the table of `key`
    std::size_t cursor = 0; ///< a row
    std::size_t first = 0;  ///< the row on the screen's first line

    /// The selected table, and the device within it.
    analysis::Key table() const { return device.empty() ? key : analysis::Key::reg; }
    analysis::RateChoice choice() const { return {order, device.empty() ? "" : device + ' '}; }

    /// Handles `key` (FullScreen::key()); ignores unknown keys. `rows`: the table's rows; `page`:
    /// the number of rows on the screen.
    void press(int key, std::span<const analysis::Rate> rows, std::size_t page);

    /// Moves the cursor to one of `rows` rows, and scrolls the screen to it.
    void keep_within(std::size_t rows, std::size_t page);
};

} // namespace mmioscope::view
