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

/// Walks from level 1 with 4 KiB pages and 32-bit input (ARM ARM B3.6.6), written apart from hyp/'s.
Translation walk(const Ram& ram, std::uint64_t root, std::uint64_t input);

class Tlb {
public:
    using Key = std::pair<unsigned, std::uint64_t>; ///< VMID, page

    const Translation* find(unsigned vmid, std::uint64_t input) const;
    void fill(unsigned vmid, std::uint64_t input, const Translation& leaf);
    void forget(unsigned vmid);
    void forget_all() { entries_.clear(); }
    void forget_page(unsigned vmid, std::uint64_t input);

private:
    std::map<Key, Translation> entries_;
};

} // namespace mmioscope::sim
