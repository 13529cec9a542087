#include "view/top_look.hpp"

#include "view/full_screen.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mmioscope::view {

namespace {

using analysis::Key;
using analysis::Order;
using analysis::Rate;

std::optional<Key> chosen_by(int key) {
    switch (key) {
    case 'd': return Key::device;
    case 'r': return Key::reg;
    case 'f': return Key::function;
    case 'a': return Key::caller;
    case 't': return Key::task;
    case 'c': return Key::cpu;
    case 'i': return Key::interrupt;
    case 's': return Key::size;
    default: return std::nullopt;
    }
}

/// In the order of the key `o`.
constexpr std::pair<Order, std::string_view> orders[] = {{Order::accesses, "rate"},
                                                         {Order::reads, "reads"},
                                                         {Order::writes, "writes"},
                                                         {Order::time, "time"},
                                                         {Order::name, "name"}};

auto place_of(Order order) {
    return std::ranges::find(orders, order, [](const auto& one) { return one.first; });
}

} // namespace

std::string_view order_text(Order order) {
    return place_of(order)->second;
}

void TopLook::press(int key_pressed, std::span<const Rate> rows, std::size_t page) {
    if (const std::optional<Key> chosen = chosen_by(key_pressed)) {
        *this = {*chosen, order, "", 0, 0};
    }
    switch (key_pressed) {
    case 'o': {
        const auto next = place_of(order) + 1;
        order = next == std::end(orders) ? orders[0].first : next->first;
        break;
    }
    case FullScreen::up: cursor -= std::min<std::size_t>(cursor, 1); break;
    case FullScreen::down: ++cursor; break;
    case FullScreen::page_up: cursor -= std::min(cursor, page); break;
    case FullScreen::page_down: cursor += page; break;
    case FullScreen::home: cursor = 0; break;
    case FullScreen::end: cursor = rows.size(); break;
    case FullScreen::enter:
        if (table() == Key::device && cursor < rows.size()) {
            *this = {key, order, rows[cursor].name, 0, 0};
            return;
        }
        break;
    case FullScreen::back: *this = {key, order, "", 0, 0}; break;
    default: break;
    }
    keep_within(rows.size(), page);
}

void TopLook::keep_within(std::size_t rows, std::size_t page) {
    cursor = std::min(cursor, rows - std::min<std::size_t>(rows, 1));
    first = std::min(first, cursor);
    first = page > 0 && cursor >= first + page ? cursor - page + 1 : first;
}

} // namespace mmioscope::view
