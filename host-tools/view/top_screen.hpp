// The screen of `top` as lines of text.
#pragma once

#include "analysis/count_table.hpp"
#include "file/trace_reader.hpp"
#include "reading/drive.hpp"
#include "records/losses.hpp"
#include "tree/device_names.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct screen; // ncurses' SCREEN

namespace mmioscope::view {

// The user's choices on the screen of `top`: the table, its order, and the position in it.

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

// The counts for the screen of `top`, by each key and in total, updated as events arrive.

class TopCounts final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void forget() override { counts_.forget(); }

    /// Updates the screen's counts. Rates are those since the previous update, in the guest's time.
    void look();

    /// Likewise, with rates over the whole time.
    void look_at_all();

    /// The rows that `look` selects, as of the last update. Valid until the next call.
    const analysis::ShownRates& rates(const TopLook& look);

    /// `reader` has no more events, and knows how many were lost.
    void finish_with(const trace::TraceReader& reader);

    TopHead head;             ///< the caller sets its name and state
    bool numbers_tell = true; ///< a missing number means a lost record

private:
    analysis::Counts counts_{analysis::all_keys(), 512};
    std::map<analysis::Key, analysis::Rates> rates_;
    std::optional<std::pair<analysis::Key, analysis::RateChoice>>
        chosen_; ///< the key and rates of shown_
    analysis::ShownRates shown_;
    std::uint64_t looked_ = 0; ///< time of the last update, ns
    std::uint64_t events_ = 0; ///< events up to it
    trace::LossCounter seen_{1};
};

// A terminal used as a full screen: lines on it, and keys from it.

class FullScreen {
public:
    /// Throws Error (bad_input) if standard output is not a terminal, or one unknown to ncurses.
    /// Keys come from the terminal even if standard input is something else.
    FullScreen();
    /// Restores the terminal.
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    std::size_t rows() const;
    std::size_t columns() const;

    /// `titles` and `cursor` are highlighted lines.
    void show(const std::vector<std::string>& lines, std::size_t titles, std::size_t cursor);

    /// The next key: a character, or one of those below; -1 if there is none, `resized` if the
    /// terminal's size changed.
    int key();
    static constexpr int resized = -2;
    static constexpr int up = -3;
    static constexpr int down = -4;
    static constexpr int page_up = -5;
    static constexpr int page_down = -6;
    static constexpr int home = -7;
    static constexpr int end = -8;
    static constexpr int enter = -9;
    static constexpr int back = -10; ///< or to the left

private:
    std::FILE* terminal_;
    screen* screen_ = nullptr;
};

} // namespace mmioscope::view
