#include "run/progress_line.hpp"

#include "run/closing.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace mmioscope::run {

// Not where the printed trace or the guest's console scrolls by on the same terminal.
ProgressLine::ProgressLine(const Options& options)
    : visible_(::isatty(STDERR_FILENO) != 0 && !options.console &&
               !(prints(options) && ::isatty(STDOUT_FILENO) != 0)) {}

void ProgressLine::show(double seconds, std::uint64_t events) {
    if (visible_ && seconds >= next_) {
        next_ = seconds + 0.5;
        fmt::print(stderr, "\r{:6.1f} s, {} events", seconds, events);
        std::fflush(stderr);
    }
}

void ProgressLine::clear() {
    if (visible_) {
        fmt::print(stderr, "\r{:40}\r", "");
    }
}

} // namespace mmioscope::run
