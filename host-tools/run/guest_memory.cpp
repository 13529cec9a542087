#include "run/guest_memory.hpp"

#include "lib/error.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

GuestMemory::GuestMemory(const Board& board, std::uint64_t size)
    : base_(board.ram_base), size_(size), file_(memory_file("guest-ram", size)) {
    void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (bytes == MAP_FAILED) {
        throw failure("cannot map {} bytes of guest memory: {}", size, std::strerror(errno));
    }
    bytes_ = static_cast<std::byte*>(bytes);
}

GuestMemory::~GuestMemory() {
    ::munmap(bytes_, size_);
}

std::span<std::byte> GuestMemory::at(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t offset = address - base_;
    if (address < base_ || offset > size_ || size > size_ - offset) {
        return {};
    }
    return {bytes_ + offset, size};
}

} // namespace mmioscope::run
