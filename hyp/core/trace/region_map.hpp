// Which device an address belongs to, and whether it is traced.
//
// Regions are the `reg` entries of device tree nodes. They may nest (a register block and the
// functions inside it) and share pages. The map flattens them into disjoint spans, in which the
// innermost region wins, so a lookup is one binary search.
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

class AccessHooks;
struct Owner;

/// Which views of the guest have bytes that are not traced.
enum class Mapped : std::uint8_t {
    always,   ///< all, unless others in their page trap
    in_steps, ///< only those of a step: each access traps
    never,    ///< none: they are the hypervisor's own
};

/// A range of bytes that belongs to one region, or to none but an owner (trace/region_lock.hpp).
/// Small: each check of the machine's description reads all of them.
struct Span {
    static constexpr std::uint32_t selected_bit = 1, traced_bit = 2;

    Range range;
    std::uint16_t region{abi::no_device};
    Mapped mapped{};
    bool changeable : 1 {};  ///< may be selected while the guest runs (control/changing_pages.hpp)
    bool memory : 1 {};      ///< the guest may have it in its caches
    bool stepped : 1 {};     ///< only the guest itself reaches it as it is in its caches
    Owner* owner{};          ///< whose lock its accesses need
    AccessHooks* hooks{};    ///< who sees each access: then all trap; null: nobody
    std::uint32_t tracing{}; ///< both; the second changes only under the region's lock

    /// Whether it is traced whenever tracing is on.
    bool selected() const { return (port::load_shared(tracing) & selected_bit) != 0; }
    /// Whether accesses become records. Stable only under the region's lock; otherwise a hint.
    bool traced() const { return (port::load_shared(tracing) & traced_bit) != 0; }
    /// Whether accesses trap, whatever else is in their page.
    bool traps() const { return traced() || mapped != Mapped::always; }
    bool is_withheld() const { return mapped == Mapped::never; }
};

class RegionMap {
public:
    /// Builds the spans from `regions`. False: no room for them.
    [[nodiscard]] bool build(const RegionTable& regions);

    /// Selects (`traced`) or deselects the bytes of `range` that belong to a region. False: no
    /// room.
    [[nodiscard]] bool select(Range range, bool traced);
    /// All accesses to `range` trap, and `hooks` sees them. False: no room.
    [[nodiscard]] bool hook(Range range, AccessHooks& hooks);
    /// Withholds `range` from the guest. False: no room.
    [[nodiscard]] bool withhold(Range range);

    /// The span that contains `address`; null if no node names the address.
    const Span* find(PhysicalAddress address) const;

    /// Whether the guest's accesses to the 4 KiB page of `address` must trap.
    bool page_trapped(PhysicalAddress address) const;

    /// Whether a byte of `range` is traced.
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
