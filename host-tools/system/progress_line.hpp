// The progress of a recording, as one line on standard error if that is a terminal.
#pragma once

#include <functional>
#include <string>

namespace mmioscope {

class ProgressLine {
public:
    /// Visible only on a terminal, and only if `wanted`: not if other output goes there.
    explicit ProgressLine(bool wanted);

    /// Shows `seconds` of wall time since the start, and the result of `text`, at most twice a
    /// second.
    void show(double seconds, const std::function<std::string()>& text);
    void clear();

private:
    bool visible_;
    double next_ = 0;
};

} // namespace mmioscope
