// The progress of a recording, as one line on standard error if that is a terminal.
#pragma once

#include <functional>
#include <string>

namespace mmioscope {

class ProgressLine {
public:
    /// Visible only on a terminal, and only if `wanted`: not where something else scrolls by there.
    explicit ProgressLine(bool wanted);

    /// `seconds` of wall time since the start, and at most twice a second what `text` gives.
    void show(double seconds, const std::function<std::string()>& text);
    void clear();

private:
    bool visible_;
    double next_ = 0;
};

} // namespace mmioscope
