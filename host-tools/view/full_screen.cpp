#include "view/full_screen.hpp"

#include "system/error.hpp"

#include <ncurses.h>
#include <unistd.h>

namespace mmioscope::view {

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

void FullScreen::show(const std::vector<std::string>& lines, std::size_t titles) {
    ::erase();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == titles) {
            ::attron(A_REVERSE);
        }
        mvaddstr(static_cast<int>(i), 0, lines[i].c_str());
        ::attroff(A_REVERSE);
    }
    ::refresh();
}

int FullScreen::key() {
    const int key = ::getch();
    return key == KEY_RESIZE ? resized : key == ERR ? -1 : key;
}

} // namespace mmioscope::view
