#include "view/top_look.hpp"

#include "view/full_screen.hpp"

#include <algorithm>

namespace mmioscope::view {

namespace {

using analysis::Key;
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

std::uint64_t weight(const Rate& rate, TopOrder order) {
    switch (order) {
    case TopOrder::reads: return rate.count.reads;
    case TopOrder::writes: return rate.count.writes;
    case TopOrder::time: return rate.count.duration;
    default: return 0;
    }
}

} // namespace

std::string_view order_text(TopOrder order) {
    static constexpr std::string_view words[] = {"rate", "reads", "writes", "time", "name"};
    return words[static_cast<unsigned>(order)];
}

// They come in the order of rates.
std::vector<Rate> TopLook::shown(std::span<const Rate> rates) const {
    std::vector<Rate> rows;
    const std::string front = device + ' ';
    for (const Rate& rate : rates) {
        if (device.empty()) {
            rows.push_back(rate);
        } else if (rate.name.starts_with(front)) {
            rows.push_back({rate.name.substr(front.size()), rate.count, rate.per_second});
        }
    }
    if (order == TopOrder::name) {
        std::ranges::sort(rows, {}, &Rate::name);
    } else if (order != TopOrder::rate) {
        std::ranges::stable_sort(rows, std::greater(),
                                 [this](const Rate& rate) { return weight(rate, order); });
    }
    return rows;
}

void TopLook::press(int key_pressed, std::span<const Rate> rows, std::size_t page) {
    if (const std::optional<Key> chosen = chosen_by(key_pressed)) {
        *this = {*chosen, order, "", 0, 0};
    }
    switch (key_pressed) {
    case 'o':
        order = static_cast<TopOrder>((static_cast<unsigned>(order) + 1) %
                                      (static_cast<unsigned>(TopOrder::name) + 1));
        break;
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
