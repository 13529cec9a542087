// Reads a trace that is still being written: a file that grows, or a pipe.
#pragma once

#include "system/byte_source.hpp"

#include <functional>

namespace mmioscope {

class GrowingSource : public ByteSource {
public:
    /// Calls `wait` after each 100 ms without new bytes; false ends the reading. The descriptor
    /// belongs to the caller.
    GrowingSource(int fd, std::function<bool()> wait);

    /// Returns fewer than `size` bytes only if `wait` returned false, or at the end of a pipe.
    std::size_t read(void* to, std::size_t size) override;
    std::size_t read_some(void* to, std::size_t size) override;
    bool grows() const override { return true; }

private:
    bool more();

    int fd_;
    bool pipe_;
    std::function<bool()> wait_;
};

} // namespace mmioscope
