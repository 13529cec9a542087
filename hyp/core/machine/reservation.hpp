// The exclusive monitor of a CPU for accesses that trap: a load-exclusive sets it, a
// store-exclusive checks it.
//
// By A3.4 the store succeeds if no store to the tagged address came between. All stores to a page
// that traps are counted under their region's lock (Owner::stores), and the store-exclusive
// compares the count with the one at the load-exclusive. The tagged block is 8 bytes, the minimum
// of A3.4.3. Blocks 128 bytes apart share a count, so a store may also fail spuriously, as any may,
// but another register's accesses do not make it fail for ever.
//
// CLREX does not trap. A store-exclusive succeeds only if it is certain that the guest has not
// executed CLREX since the load: Hyp has followed it (trap/stretch.hpp), or the CPU's own monitor,
// which CLREX clears, was asked before the store trapped (MonitorOrder::first). The context is
// compared as well: a handler that returns to another thread should have executed CLREX.
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
    bool certain{}; ///< the guest came straight here from the load-exclusive (trap/stretch.hpp)
    VirtualAddress va{};
    PhysicalAddress pa{};
    unsigned bytes{};
    std::uint32_t stores{}; ///< Owner's count for the block, at the load-exclusive
    ExclusiveContext context{};
};

} // namespace mmioscope
