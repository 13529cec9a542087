#include "system/progress_line.hpp"

#include "system/message.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace mmioscope {

ProgressLine::ProgressLine(bool wanted) : visible_(wanted && ::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(double seconds, const std::function<std::string()>& text) {
    if (visible_ && seconds >= next_) {
        next_ = seconds + 0.5;
        print_message("\r{:6.1f} s, {:<68}", seconds, text());
    }
}

void ProgressLine::clear() {
    if (next_ > 0) { // something was shown
        next_ = 0;
        print_message("\r{:78}\r", "");
    }
}

} // namespace mmioscope
