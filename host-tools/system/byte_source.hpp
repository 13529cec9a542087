// A source of bytes: a file, a pipe, memory, or a file that is still being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace mmioscope {

class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Reads `size` bytes; fewer only at the end. Throws Error if reading fails.
    virtual std::size_t read(void* to, std::size_t size) = 0;

    /// Reads what is available: at least one byte, at most `size`; 0 only at the end. Differs from
    /// read() if more may come later.
    virtual std::size_t read_some(void* to, std::size_t size) { return read(to, size); }

    /// The total number of bytes, if seek() works; nothing: the source can only be read from front
    /// to back.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

    /// Moves the next read to `offset` from the start. Does nothing without a size().
    virtual void seek(std::uint64_t /*offset*/) {}

    /// Whether somebody may still be writing: asking for more bytes may then never return.
    virtual bool grows() const { return false; }

    /// Why the bytes ended, if that was not the regular end.
    virtual std::string problem() const { return {}; }
};

/// Called for each piece of a long input that was read or searched, with its size.
using Passed = std::function<void(std::size_t bytes)>;

/// An open file or pipe, from its current position. The descriptor belongs to the caller.
class FileSource : public ByteSource {
public:
    explicit FileSource(int fd);
    std::size_t read(void* to, std::size_t size) override;
    std::optional<std::uint64_t> size() const override; ///< at this moment
    void seek(std::uint64_t offset) override;

private:
    int fd_;
    std::optional<std::uint64_t> start_; ///< initial position; nothing: cannot seek
};

/// Bytes in memory, which belong to the caller.
class MemorySource : public ByteSource {
public:
    explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes), rest_(bytes) {}
    std::size_t read(void* to, std::size_t size) override;
    std::optional<std::uint64_t> size() const override { return bytes_.size(); }
    void seek(std::uint64_t offset) override;

private:
    std::span<const std::byte> bytes_;
    std::span<const std::byte> rest_;
};

} // namespace mmioscope
