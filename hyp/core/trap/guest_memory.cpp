#include "trap/guest_memory.hpp"

#include "port/memory.hpp"

namespace mmioscope {

// Both maps consist of whole pages. The clean comes before the read, which does not look into the
// caches (ARM ARM A3.5.7: by address, to the point of coherency, and a DSB). A line that the guest
// makes dirty between is a race of the guest's, as with any other reader.
bool read_guest_memory(const Machine& machine, PhysicalAddress pa, std::span<std::uint32_t> to) {
    if (!in_memory(machine.guest_memory, pa) || in_memory(machine.no_map, pa)) return false;
    port::flush_to_coherency(pa, to.size_bytes());
    for (std::uint32_t& word : to) {
        word = *port::memory_at<const std::uint32_t>(pa);
        pa = pa + sizeof word;
    }
    return true;
}

} // namespace mmioscope
