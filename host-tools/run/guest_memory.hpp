// The guest's RAM: a memory file that QEMU and this program both map.
#pragma once

#include "run/board.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope::run {

class GuestMemory {
public:
    /// Maps `size` bytes from `board`'s RAM base on: the file `path`, which is created if
    /// necessary, or zeros if `path` is empty. Throws Error.
    GuestMemory(const Board& board, std::uint64_t size, const std::string& path);
    ~GuestMemory();
    GuestMemory(const GuestMemory&) = delete;
    GuestMemory& operator=(const GuestMemory&) = delete;

    int fd() const { return file_.get(); }

    /// The `size` bytes at physical `address`; empty if not all of them are RAM.
    std::span<std::byte> at(std::uint64_t address, std::uint64_t size) const;

    /// All of RAM, and its first address.
    std::span<std::byte> bytes() const { return {bytes_, size_}; }
    std::uint64_t base() const { return base_; }

private:
    std::uint64_t base_;
    std::uint64_t size_;
    FileDescriptor file_;
    std::byte* bytes_;
};

} // namespace mmioscope::run
