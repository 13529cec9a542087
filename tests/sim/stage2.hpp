// Walks stage-2 tables in memory like hardware, independent of hyp/'s own lookup().
#pragma once

#include "table_stores.hpp"

#include <array>

namespace mmioscope::sim {

/// The address in a descriptor.
inline constexpr std::uint64_t address_bits = 0xff'ffff'f000;

/// The result of a walk.
struct Translation {
    std::uint64_t descriptor{}; ///< the leaf; 0 if there is none
    unsigned level{};           ///< of the leaf, or of the invalid entry

    bool valid() const { return descriptor != 0; }
    bool device() const { return (descriptor & (0xf << 2)) == 0x1 << 2; }
    /// Whether it is cached Normal memory, inner or outer.
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
/// The tables of a walk, by level; 0 for levels not reached.
using TablesOfWalk = std::array<std::uint64_t, 4>;
/// Continues the walk from `table` of `level`, and notes the tables on the way.
Translation walk_from(const WalkedMemory& memory, std::uint64_t table, unsigned level,
                      std::uint64_t input, TablesOfWalk& tables);

} // namespace mmioscope::sim
