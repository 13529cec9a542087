// The exclusive monitor of a CPU for accesses that trap: a load-exclusive sets it, a
// store-exclusive checks it.
//
// By A3.4 the store succeeds if no store to the tagged address came between. All stores to a page
// that traps are counted under their region's lock (RegionLock::stores), and the store-exclusive
// compares the count with the one at the load-exclusive. The tagged block is 8 bytes, the minimum
// of A3.4.3. Blocks 128 bytes apart share a count, so a store may also fail spuriously, as any may,
// but another register's accesses do not make it fail for ever.
//
// CLREX does not trap. If the CPU's own monitor survives a trap, it makes the store fail itself, so
// nothing is missed. If it does not, the missed CLREX (at a context switch) could let a thread use
// another thread's reservation, and overwrite a store that is older than that thread's load but
// younger than its own. The context prevents this: a store-exclusive fails if mode, stack or
// address space differ from those of the load-exclusive.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

/// Who runs: threads differ in their stacks, processes in their tables.
struct ExclusiveContext {
    std::uint32_t mode{};
    std::uint32_t sp{};
    std::uint32_t ttbr0{};

    /// A function may be a few words deeper in its stack at the store than at the load. Two threads
    /// are further apart: the one that does not run has its registers saved on its stack.
    bool same_as(const ExclusiveContext& other) const {
        constexpr std::uint32_t saved_registers = 64;
        const std::uint32_t apart = sp > other.sp ? sp - other.sp : other.sp - sp;
        return mode == other.mode && ttbr0 == other.ttbr0 && apart < saved_registers;
    }
};

struct Reservation {
    bool held{};
    PhysicalAddress pa{};
    unsigned bytes{};
    std::uint32_t stores{}; ///< RegionLock's count for the block, at the load-exclusive
    ExclusiveContext context{};
};

} // namespace mmioscope
