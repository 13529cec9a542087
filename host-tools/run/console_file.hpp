// The file that QEMU writes the guest's console into, read for the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::run {

class ConsoleFile {
public:
    /// `fd` stays the caller's.
    explicit ConsoleFile(int fd) : fd_(fd), buffer_(64 * 1024) {}

    /// What has come since, or a part of that; holds until the next call. What cannot be read is
    /// not there: the trace is worth more than its console.
    std::span<const std::byte> read_more();

private:
    int fd_;
    std::uint64_t read_ = 0;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::run
