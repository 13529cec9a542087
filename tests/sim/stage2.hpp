// Stage-2 tables as hardware walks them, from what they find in memory; apart from hyp/'s own
// lookup().
#pragma once

#include "table_stores.hpp"

#include <array>

namespace mmioscope::sim {

/// What a walk ends in.
struct Translation {
    std::uint64_t descriptor{}; ///< the leaf; 0 if there is none
    unsigned level{};           ///< of the leaf, or of the entry that is invalid

    bool valid() const { return descriptor != 0; }
    bool device() const { return (descriptor & (0xf << 2)) == 0x1 << 2; }
    /// Normal memory that is cached, inner or outer.
    bool cacheable() const {
        return (descriptor & (0x2 << 2)) != 0 || (descriptor & (0x8 << 2)) != 0;
    }
    bool executable() const { return (descriptor >> 54 & 1) == 0; }
    bool readable() const { return (descriptor >> 6 & 1) != 0; }
    bool writable() const { return (descriptor >> 7 & 1) != 0; }
    /// The output address for `input`, which this leaf translates.
    std::uint64_t output(std::uint64_t input) const;
};

/// Walks from level 1 with 4 KiB pages and 32-bit input (ARM ARM B3.6.6).
Translation walk(const WalkedMemory& memory, std::uint64_t root, std::uint64_t input);
/// The tables of a walk, by level; 0 where it did not come.
using TablesOfWalk = std::array<std::uint64_t, 4>;
/// Walks on from `table` of `level`, and notes the tables on the way.
Translation walk_from(const WalkedMemory& memory, std::uint64_t table, unsigned level,
                      std::uint64_t input, TablesOfWalk& tables);

} // namespace mmioscope::sim
