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
