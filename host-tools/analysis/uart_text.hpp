// Lines of text sent through a UART, put together from the writes to its data register.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mmioscope::analysis {

class UartText {
public:
    struct Line {
        std::uint64_t nanoseconds; ///< time of its first character
        std::string text;          ///< without line end
    };

    /// The line that `event` completes. Expects the data register at offset 0, as on PL011 and
    /// 8250. Writes to offset 0 of other devices rarely form a line that anybody looks for.
    std::optional<Line> add(const Event& event);

private:
    static constexpr std::size_t longest = 1024; ///< characters; the rest is cut off

    std::map<std::uint16_t, Line> open_; ///< by Record::device
};

} // namespace mmioscope::analysis
