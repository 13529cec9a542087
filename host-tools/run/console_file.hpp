// Reads the file that QEMU writes the guest's console into, for the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::run {

class ConsoleFile {
public:
    /// `fd` belongs to the caller.
    explicit ConsoleFile(int fd) : fd_(fd), buffer_(64 * 1024) {}

    /// New bytes, or a part of them; valid until the next call. Ignores read errors: the trace is
    /// worth more than its console.
    std::span<const std::byte> read_more();

private:
    int fd_;
    std::uint64_t read_ = 0;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::run
