// A terminal used as a full screen: lines on it, and keys from it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

struct screen; // ncurses' SCREEN

namespace mmioscope::view {

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
