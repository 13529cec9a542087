// Where a reader's bytes come from: a file, a pipe, memory, or a file still being written.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace mmioscope::trace {

class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Reads `size` bytes; fewer only at the end. Throws Error if reading fails.
    virtual std::size_t read(void* to, std::size_t size) = 0;
};

/// An open file or pipe, read front to back. The descriptor stays the caller's.
class FileSource : public ByteSource {
public:
    explicit FileSource(int fd) : fd_(fd) {}
    std::size_t read(void* to, std::size_t size) override;

private:
    int fd_;
};

/// Bytes in memory, which stay the caller's.
class MemorySource : public ByteSource {
public:
    explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::size_t read(void* to, std::size_t size) override;

private:
    std::span<const std::byte> bytes_;
};

} // namespace mmioscope::trace
