// A line that takes bytes and never makes anybody wait: what a stream leaves through.
#pragma once

#include <cstdint>

namespace mmioscope {

class Line {
public:
    /// Sends `byte` if there is room for it now; false if there is none.
    virtual bool put(std::uint8_t byte) = 0;

protected:
    ~Line() = default;
};

} // namespace mmioscope
