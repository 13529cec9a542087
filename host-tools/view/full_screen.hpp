// A terminal taken over: lines on all of it, and keys from it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

struct screen; // ncurses' SCREEN

namespace mmioscope::view {

class FullScreen {
public:
    /// Throws Error (bad_input) if standard output is no terminal, or one that ncurses does not
    /// know. Keys come from the terminal even if standard input is something else.
    FullScreen();
    /// Gives the terminal back as it was.
    ~FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;

    std::size_t rows() const;
    std::size_t columns() const;

    /// `titles` and `cursor`: lines that stand out.
    void show(const std::vector<std::string>& lines, std::size_t titles, std::size_t cursor);

    /// The next key that was pressed: a character, or one of those below; -1 if there is none,
    /// `resized` if the terminal's size changed.
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
