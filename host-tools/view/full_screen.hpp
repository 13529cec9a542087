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

    /// `titles`: the line that stands out.
    void show(const std::vector<std::string>& lines, std::size_t titles);

    /// The next key that was pressed; -1 if there is none, `resized` if the terminal's size
    /// changed.
    int key();
    static constexpr int resized = -2;

private:
    std::FILE* terminal_;
    screen* screen_ = nullptr;
};

} // namespace mmioscope::view
