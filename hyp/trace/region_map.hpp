// Which device an address belongs to, and whether it is traced.
//
// Regions are the `reg` entries of device tree nodes. They may nest (a register block and the
// functions inside it) and share pages; the map flattens them into disjoint spans, the innermost
// region winning, so that a lookup is one binary search.
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"
#include "base/fixed_vector.hpp"
#include "port/shared.hpp"

namespace mmioscope {

using RegionTable = FixedVector<abi::RegionEntry, abi::max_regions>;

constexpr Range range_of(const abi::RegionEntry& r) {
    return {r.base, r.base + r.size};
}

/// A run of bytes that belongs to one region.
struct Span {
    Range range;
    std::uint16_t region{};
    bool trapped{};    ///< accesses trap even if untraced: they can end the machine or start a CPU
    bool withheld{};   ///< the hypervisor's own: the guest does not reach it
    bool changeable{}; ///< `selected` may change while the guest runs (mm/changing_pages.hpp)
    std::uint32_t selected{};    ///< 1: traced whenever tracing is on
    std::uint32_t traced_word{}; ///< what traced() reads; changes under the region's lock only

    /// Accesses become records. Under the region's lock it stays so; without, it is a hint.
    bool traced() const { return port::load_shared(traced_word) != 0; }
};

class RegionMap {
public:
    /// Lays out `regions`. False if there is no room for the spans.
    [[nodiscard]] bool build(const RegionTable& regions);

    /// Traces the bytes of `range` that belong to a region (or no longer does). False: no room.
    [[nodiscard]] bool select(Range range, bool traced);
    /// Makes accesses to `range` trap in any case. False: no room.
    [[nodiscard]] bool trap_always(Range range);
    /// Takes `range` from the guest. False: no room.
    [[nodiscard]] bool withhold(Range range);

    /// The span `address` belongs to; null if no node names it.
    const Span* find(PhysicalAddress address) const;

    /// True if the guest must not reach the 4 KiB page of `address` without a trap.
    bool page_trapped(PhysicalAddress address) const;

    /// True if a byte of `range` is traced.
    bool any_traced(Range range) const;

    const Span* begin() const { return spans_.begin(); }
    const Span* end() const { return spans_.end(); }
    Span* begin() { return spans_.begin(); }
    Span* end() { return spans_.end(); }

private:
    static constexpr std::size_t max_spans = 2 * abi::max_regions;

    bool cut(std::uint64_t at);
    template <class Change>
    bool change(Range range, Change&& apply);
    std::size_t first_ending_after(std::uint64_t address) const;

    FixedVector<Span, max_spans> spans_;
};

} // namespace mmioscope
