// Lines of text that left by a UART, put together from the writes to its data register.
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
        std::uint64_t nanoseconds; ///< of its first character
        std::string text;          ///< without its end
    };

    /// The line that ends with `event`. The data register is that at offset 0, as on PL011 and
    /// 8250; other devices have writes there, too, which rarely make a line that anybody looks for.
    std::optional<Line> add(const Event& event);

private:
    static constexpr std::size_t longest = 1024; ///< characters; what is behind is left out

    std::map<std::uint16_t, Line> open_; ///< by Record::device
};

} // namespace mmioscope::analysis
