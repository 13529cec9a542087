// A source of bytes: a file, a pipe, memory, or a file that is still being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace mmioscope {

class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Reads `size` bytes; fewer only at the end. Throws Error if reading fails.
    virtual std::size_t read(void* to, std::size_t size) = 0;

    /// Reads what there is now: at least a byte, at most `size`; 0 only at the end. Differs from
    /// read() where more may come later.
    virtual std::size_t read_some(void* to, std::size_t size) { return read(to, size); }

    /// How many bytes there are in all, where seek() works; nothing: they come front to back only.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

    /// The next read begins `offset` bytes behind the first one. Does nothing without a size().
    virtual void seek(std::uint64_t /*offset*/) {}

    /// Somebody may still be writing them: to ask whether there are more may take for ever.
    virtual bool grows() const { return false; }

    /// Why the bytes ended, in words, where they did not just end.
    virtual std::string problem() const { return {}; }
};

/// An open file or pipe, from where it stands. The descriptor stays the caller's.
class FileSource : public ByteSource {
public:
    explicit FileSource(int fd);
    std::size_t read(void* to, std::size_t size) override;
    std::optional<std::uint64_t> size() const override; ///< at this moment
    void seek(std::uint64_t offset) override;

private:
    int fd_;
    std::optional<std::uint64_t> start_; ///< where the descriptor stood; nothing: it cannot seek
};

/// Bytes in memory, which stay the caller's.
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
