// The exclusive monitor of a CPU, for what traps: set by a load-exclusive, asked by a
// store-exclusive.
//
// A3.4 has the store succeed if no store to the tagged address came between. Here that holds by
// construction: all stores to a page that traps are counted under their region's lock
// (RegionLock::stores), and the store-exclusive finds the count that the load-exclusive found. The
// tagged block is 8 bytes, the least that A3.4.3 allows; blocks 128 bytes apart share a count, so
// a store may also fail without need, as any may, but not because of another register's traffic for
// ever.
//
// A CLREX does not trap, and none is missed where the CPU's own monitor outlives a trap: it then
// fails the store itself. Where it does not, CLREX (at a context switch) would keep a thread from
// using the reservation of another one, whose load may be younger than a store that the first must
// not overwrite. The context does that instead: a store-exclusive in another mode, with another
// stack or address space than the load-exclusive fails.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

/// Who runs: threads have their stacks, and processes their tables.
struct ExclusiveContext {
    std::uint32_t mode{};
    std::uint32_t sp{};
    std::uint32_t ttbr0{};

    /// One function may lie a few words deeper in its stack at the store than at the load. Two
    /// threads do not: the one that does not run has its registers saved there.
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
    std::uint32_t stores{}; ///< to its block, when it was made
    ExclusiveContext context{};
};

} // namespace mmioscope
