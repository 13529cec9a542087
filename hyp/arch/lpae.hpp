// Long-descriptor translation tables (ARM ARM B3.6): geometry and descriptors, as values.
//
//        31 30 29      21 20      12 11        0
//       | L1  |   L2     |   L3     |  offset   |     32-bit input, 4 KiB granule
#pragma once

#include "base/address.hpp"

namespace mmioscope::lpae {

inline constexpr unsigned first_level = 1;
inline constexpr unsigned last_level = 3;
inline constexpr unsigned table_entries = 512;
inline constexpr unsigned root_entries = 4; ///< T0SZ=0: level 1 resolves bits 31:30
inline constexpr std::uint64_t input_end = std::uint64_t{1} << 32; ///< what T0SZ=0 translates

/// log2 of the bytes one entry of `level` maps: 30, 21 or 12.
constexpr unsigned level_shift(unsigned level) {
    return 39 - 9 * level;
}
constexpr std::uint64_t level_size(unsigned level) {
    return std::uint64_t{1} << level_shift(level);
}
constexpr unsigned level_index(std::uint64_t address, unsigned level) {
    return static_cast<unsigned>(address >> level_shift(level)) & (table_entries - 1);
}
static_assert(level_size(1) == 1u << 30 && level_size(2) == 2u << 20 && level_size(3) == page_size);

using Descriptor = std::uint64_t;

inline constexpr Descriptor valid = 1;
inline constexpr Descriptor table_or_page = 2; ///< a table at levels 1 and 2, a page at level 3
inline constexpr Descriptor address_mask = 0x0000'00ff'ffff'f000;

constexpr bool is_valid(Descriptor d) {
    return (d & valid) != 0;
}
constexpr bool is_table(Descriptor d, unsigned level) {
    return level < last_level && (d & 3) == (valid | table_or_page);
}
constexpr Descriptor make_table(PhysicalAddress table) {
    return table.value | valid | table_or_page;
}
constexpr std::uint64_t output_address(Descriptor d) {
    return d & address_mask;
}

/// Attributes of a leaf: everything in it but the address and the type.
struct Attributes {
    Descriptor bits;
};

/// Those of a leaf of any level.
constexpr Attributes attributes_of(Descriptor leaf) {
    return {leaf & ~(address_mask | valid | table_or_page)};
}

constexpr Descriptor make_leaf(std::uint64_t output, Attributes a, unsigned level) {
    return output | a.bits | valid | (level == last_level ? table_or_page : 0);
}

inline constexpr Descriptor access_flag = Descriptor{1} << 10;
inline constexpr Descriptor inner_shareable = Descriptor{3} << 8;
inline constexpr Descriptor execute_never = Descriptor{1} << 54;

// Stage 2 (B3.6.2): MemAttr in bits 5:2, S2AP in bits 7:6.
inline constexpr Descriptor s2_normal = Descriptor{0xf} << 2;
inline constexpr Descriptor s2_read_write = Descriptor{3} << 6;
inline constexpr Descriptor s2_uncached = Descriptor{0x5} << 2; ///< Normal Non-cacheable
inline constexpr Attributes guest_memory{access_flag | inner_shareable | s2_normal | s2_read_write};
/// The stages combine to the stricter memory type, the lesser cacheability and the wider
/// shareability (B3.8), so of these two Normal, Write-Back and Non-shareable are the weakest:
/// stage 1 alone decides, as if there were no stage 2. Device here would make alignment faults of
/// what the guest does with video memory or a BAR that it maps as Normal (A3.2.1). Where its MMU is
/// off stage 1 says Strongly-ordered (HCR.DC is clear, B3.2.1), so that is as before. No device has
/// to be Device here: the guest's own choice is what its devices would have met, and Hyp's own
/// devices are in none of the guest's tables.
inline constexpr Attributes guest_device{access_flag | s2_normal | s2_read_write | execute_never};
/// The same in a shadow table, but never cached: a record is of an access that has reached the
/// device when the step ends, and Hyp, which maps it as Device, may do the next one itself. A line
/// left in a cache would be read instead, or written later. What a Normal mapping allows besides,
/// reads ahead of time, the guest has chosen; it is for one instruction here.
inline constexpr Attributes traced_device{access_flag | s2_uncached | s2_read_write |
                                          execute_never};
/// What a page of a shadow table has in the normal one where it does not trap.
constexpr Attributes untraced(Attributes in_shadow) {
    return in_shadow.bits == traced_device.bits ? guest_device : in_shadow;
}
/// What Hyp and the guest write and read at the same time. Linux maps what is no RAM of its own as
/// Strongly-ordered; were it cached elsewhere, coherency could be lost, as where any two attributes
/// do not match (ARM ARM A3.5.7). So it is Non-cacheable for both, and whatever the guest asks for:
/// the stages combine to what is cached less (B3.6.6). What then still differs, the memory type,
/// is a matter of order, and of that the barriers of abi/ring.hpp take care.
inline constexpr Attributes guest_shared{access_flag | inner_shareable | s2_uncached |
                                         s2_read_write | execute_never};

// Stage 1 of Hyp (B3.6.2): AttrIndx in bits 4:2 (into HMAIR0), AP[2:1] in bits 7:6; AP[1] is RES1.
inline constexpr Descriptor s1_device = Descriptor{0} << 2;
inline constexpr Descriptor s1_normal = Descriptor{1} << 2;
inline constexpr Descriptor s1_uncached = Descriptor{2} << 2;
inline constexpr Descriptor s1_ap1 = Descriptor{1} << 6;
inline constexpr Descriptor s1_read_only = Descriptor{1} << 7;
inline constexpr Descriptor s1_common = access_flag | inner_shareable | s1_ap1;
inline constexpr Attributes hyp_text{s1_common | s1_normal | s1_read_only};
inline constexpr Attributes hyp_constants{s1_common | s1_normal | s1_read_only | execute_never};
inline constexpr Attributes hyp_data{s1_common | s1_normal | execute_never};
inline constexpr Attributes hyp_shared{s1_common | s1_uncached | execute_never};
inline constexpr Attributes hyp_device{s1_common | s1_device | execute_never};

} // namespace mmioscope::lpae
