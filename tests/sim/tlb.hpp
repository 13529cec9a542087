// Stage-2 translation as a CPU does it: from the bytes of the tables in memory, kept in a TLB that
// forgets only what it is told to (and, at random, a little more).
#pragma once

#include "ram.hpp"

#include <map>

namespace mmioscope::sim {

/// What a walk ends in.
struct Translation {
    std::uint64_t descriptor{}; ///< the leaf; 0 if there is none
    unsigned level{};           ///< of the leaf, or of the entry that is invalid

    bool valid() const { return descriptor != 0; }
    bool device() const { return (descriptor & (0xf << 2)) == 0x1 << 2; }
    bool executable() const { return (descriptor >> 54 & 1) == 0; }
    bool readable() const { return (descriptor >> 6 & 1) != 0; }
    bool writable() const { return (descriptor >> 7 & 1) != 0; }
    /// The output address for `input`, which this leaf translates.
    std::uint64_t output(std::uint64_t input) const;
};

/// Walks from level 1 with 4 KiB pages and 32-bit input (ARM ARM B3.6.6); apart from hyp/'s own.
Translation walk(const Ram& ram, std::uint64_t root, std::uint64_t input);

class Tlb {
public:
    using Key = std::pair<std::uint64_t, std::uint64_t>; ///< VMID, page or block

    /// As the CPU translates `input` under `vttbr`: from what is cached, or by a walk that is
    /// cached then, leaves and the tables on the way. Faults are not cached.
    Translation translate(const Ram& ram, std::uint64_t vttbr, std::uint64_t input);
    bool holds(std::uint64_t vttbr, std::uint64_t input) const;
    void forget_page(std::uint64_t vttbr, std::uint64_t input);
    void forget_all();

private:
    std::map<Key, Translation> leaves_;
    std::map<Key, std::uint64_t> tables_; ///< of level 3, by 2 MiB
};

} // namespace mmioscope::sim
