// Restores the terminal's settings: QEMU may die without doing so.
#pragma once

#include <termios.h>
#include <unistd.h>

namespace mmioscope::run {

class TerminalSettings {
public:
    TerminalSettings() : valid_(::tcgetattr(STDIN_FILENO, &settings_) == 0) {}
    ~TerminalSettings() {
        if (valid_) {
            ::tcsetattr(STDIN_FILENO, TCSANOW, &settings_);
        }
    }
    TerminalSettings(const TerminalSettings&) = delete;
    TerminalSettings& operator=(const TerminalSettings&) = delete;

private:
    termios settings_;
    bool valid_;
};

} // namespace mmioscope::run
