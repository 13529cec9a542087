#include "ram.hpp"

#include "scheduler.hpp"

#include <new>
#include <sys/mman.h>

namespace mmioscope::sim {

// Zeroed; only touched pages use memory.
Ram::Ram(Range range) : range_(range) {
    void* bytes = mmap(nullptr, range.size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) throw std::bad_alloc();
    bytes_ = static_cast<std::byte*>(bytes);
}

Ram::~Ram() { munmap(bytes_, range_.size()); }

std::byte* Ram::at(PhysicalAddress address) const {
    if (!range_.contains(address.value)) throw Failure{"no memory at an address used as memory"};
    return bytes_ + (address.value - range_.begin);
}

PhysicalAddress Ram::address_of(const void* object) const {
    const auto* byte = static_cast<const std::byte*>(object);
    if (byte < bytes_ || byte >= bytes_ + range_.size())
        throw Failure{"the physical address of an object outside the simulated memory"};
    return {range_.begin + static_cast<std::uint64_t>(byte - bytes_)};
}

} // namespace mmioscope::sim
