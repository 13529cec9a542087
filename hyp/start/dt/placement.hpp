// Where in the board's memory the hypervisor lies, and whether it may (abi/layout.hpp).
#pragma once

#include "abi/layout.hpp"
#include "dt/tree.hpp"
#include "mm/memory_map.hpp"

namespace mmioscope {

/// What the hypervisor hides from the guest if its image is loaded at `base`. `area_size`: of the
/// trace area, in bytes.
constexpr Range own_memory_at(std::uint64_t base, std::uint64_t area_size) {
    return {base, base + abi::area_offset + area_size};
}

/// Whether `memory`, the board's, has room for `own` and for the guest's device tree below it, and
/// nothing of /reserved-memory lies there.
BootError check_place(const Tree& tree, const MemoryMap& memory, Range own);

} // namespace mmioscope
