#include "view/top_screen.hpp"

#include "records/ticks.hpp"
#include "system/error.hpp"
#include "table/table.hpp"
#include "view/short_tables.hpp"

#include <fmt/format.h>
#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::view {

namespace {

using analysis::Rate;

constexpr char keys[] =
    "d device  r register  f function  a caller  t task  c CPU  i interrupt  "
    "s size  o order  p pause  q quit  Enter opens a device  Backspace leaves it";

table::Table table_of(const TopLook& look, std::span<const Rate> rates, const Rate& total) {
    using enum table::Look;
    const std::string_view title = analysis::key_text(look.table());
    // The times are those of accesses to a GIC, not of interrupts.
    const bool timed = look.table() != analysis::Key::interrupt;
    const bool devices =
        look.table() == analysis::Key::device || look.table() == analysis::Key::reg;
    table::Table table{{{"", "per s", number, 10},
                        {"", "reads", number, 10},
                        {"", "writes", number, 10},
                        {"", timed ? "time %" : "", number, 6, 1},
                        {"", title, devices ? device : words}},
                       {}};
    const auto add = [&](const Rate& rate) {
        const double share = total.count.duration == 0
                                 ? 0
                                 : static_cast<double>(rate.count.duration) /
                                       static_cast<double>(total.count.duration) * 100;
        table.rows.push_back(
            {rate.per_second, rate.count.reads, rate.count.writes, share, rate.name});
    };
    std::ranges::for_each(rates, add);
    add(total);
    return table;
}

} // namespace

std::vector<std::string> top_screen(const TopHead& head, const TopLook& look,
                                    const analysis::ShownRates& shown, std::size_t rows,
                                    std::size_t columns) {
    std::vector<std::string> lines;
    lines.push_back(fmt::format("mmioscope top {}: {:.3f} s, {} events, {:.0f}/s, {} lost{}{}{}{}",
                                head.name, static_cast<double>(head.nanoseconds) / 1e9, head.events,
                                head.per_second, head.lost, head.state.empty() ? "" : ", ",
                                head.state, look.device.empty() ? "" : ", registers of ",
                                look.device));
    lines.back() += look.order == analysis::Order::accesses
                        ? ""
                        : fmt::format(", by {}", order_text(look.order));
    lines.emplace_back(shown.left_out.empty() ? keys : shown.left_out.front() + "  " + keys);
    for (std::string& line : lines) {
        line.resize(std::min(line.size(), columns));
    }
    const std::size_t first = std::min(look.first, shown.rows.size());
    const auto visible = std::span(shown.rows)
                             .subspan(first)
                             .first(std::min(shown.rows.size() - first, top_page(rows)));
    const table::Table table = shortened(table_of(look, visible, shown.total), head.short_names);
    std::ranges::move(table::lines(table, columns), std::back_inserter(lines));
    lines.resize(std::min(lines.size(), rows));
    return lines;
}

void TopCounts::add(const Event& event) {
    head.nanoseconds = event.nanoseconds;
    head.events += event.record.type == abi::RecordType::access ? 1 : 0;
    if (numbers_tell) {
        seen_.add(event.record);
        head.lost = seen_.lost();
    } else if (event.record.type == abi::RecordType::gap) {
        head.lost = trace::add_lost(head.lost, event.record.value);
    }
    counts_.add(event);
}

void TopCounts::look() {
    const double seconds = static_cast<double>(trace::elapsed(looked_, head.nanoseconds)) / 1e9;
    const auto came = static_cast<double>(head.events - events_);
    head.per_second = seconds > 0 ? came / seconds : 0;
    looked_ = head.nanoseconds;
    events_ = head.events;
    for (const analysis::Key key : counts_.keys()) {
        rates_[key].look(key, counts_.by(key), seconds);
    }
    chosen_.reset();
}

void TopCounts::look_at_all() {
    look();
    const double seconds = static_cast<double>(head.nanoseconds) / 1e9;
    head.per_second = seconds > 0 ? static_cast<double>(head.events) / seconds : 0;
    for (auto& [key, rates] : rates_) {
        rates.look_at_all(seconds);
    }
}

// A cut or damaged trace may not know.
void TopCounts::finish_with(const trace::TraceReader& reader) {
    if (reader.sound()) {
        head.lost = trace::sum_of(reader.losses());
    }
}

const analysis::ShownRates& TopCounts::rates(const TopLook& look) {
    std::pair chosen(look.table(), look.choice());
    if (chosen_ != chosen) {
        chosen_ = std::move(chosen);
        shown_ = rates_[look.table()].shown(look.choice());
    }
    return shown_;
}

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

FullScreen::FullScreen() : terminal_(std::fopen("/dev/tty", "r+e")) {
    if (::isatty(STDOUT_FILENO) != 0 && terminal_ != nullptr) {
        screen_ = ::newterm(nullptr, stdout, terminal_);
    }
    if (screen_ == nullptr) {
        if (terminal_ != nullptr) {
            std::fclose(terminal_);
        }
        throw bad_input("top needs a terminal; --once prints one screen as text");
    }
    ::cbreak();
    ::noecho();
    ::nodelay(stdscr, TRUE);
    ::keypad(stdscr, TRUE);
    ::curs_set(0);
}

FullScreen::~FullScreen() {
    ::endwin();
    ::delscreen(screen_);
    std::fclose(terminal_);
}

std::size_t FullScreen::rows() const {
    return static_cast<std::size_t>(getmaxy(stdscr));
}

std::size_t FullScreen::columns() const {
    return static_cast<std::size_t>(getmaxx(stdscr));
}

void FullScreen::show(const std::vector<std::string>& lines, std::size_t titles,
                      std::size_t cursor) {
    ::erase();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == titles) {
            ::attron(A_REVERSE);
        } else if (i == cursor) {
            ::attron(A_BOLD | A_UNDERLINE);
        }
        mvaddstr(static_cast<int>(i), 0, lines[i].c_str());
        ::attroff(A_REVERSE | A_BOLD | A_UNDERLINE);
    }
    ::refresh();
}

int FullScreen::key() {
    const int key = ::getch();
    switch (key) {
    case ERR: return -1;
    case KEY_RESIZE: return resized;
    case KEY_UP: return up;
    case KEY_DOWN: return down;
    case KEY_PPAGE: return page_up;
    case KEY_NPAGE: return page_down;
    case KEY_HOME: return home;
    case KEY_END: return end;
    case KEY_RIGHT:
    case KEY_ENTER:
    case '\n':
    case '\r': return enter;
    case KEY_LEFT:
    case KEY_BACKSPACE:
    case '\b':
    case 127: return back;
    default: return key;
    }
}

} // namespace mmioscope::view
