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
/// End of the addresses that T0SZ=0 translates.
inline constexpr std::uint64_t input_end = std::uint64_t{1} << 32;

/// log2 of the bytes that one entry of `level` maps: 30, 21 or 12.
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

/// Attributes of a leaf: all of it except the address and the type.
struct Attributes {
    Descriptor bits;
};

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
inline constexpr Descriptor s2_read_only = Descriptor{1} << 6;
inline constexpr Descriptor s2_uncached = Descriptor{0x5} << 2; ///< Normal Non-cacheable
inline constexpr Attributes guest_memory{access_flag | inner_shareable | s2_normal | s2_read_write};
/// Memory in a shadow table where steps run on a page of the hypervisor's (mm/step_page.hpp), which
/// alone may be executed, and only be read.
inline constexpr Attributes guest_data{guest_memory.bits | execute_never};
inline constexpr Attributes step_page{access_flag | inner_shareable | s2_normal | s2_read_only};
/// An untraced device. The two stages combine to the stricter memory type, the lesser cacheability
/// and the wider shareability (B3.8). Normal, Write-Back and Non-shareable are the weakest, so
/// stage 1 alone decides, as if there were no stage 2. Device in stage 2 would cause alignment
/// faults where the guest maps video memory or a BAR as Normal (A3.2.1). With the guest's MMU off,
/// stage 1 gives Strongly-ordered (HCR.DC is clear, B3.2.1), as without a hypervisor. No device
/// needs Device here: without a hypervisor it would get the guest's own choice, too, and Hyp's own
/// devices are in none of the guest's tables.
inline constexpr Attributes guest_device{access_flag | s2_normal | s2_read_write | execute_never};
/// A device in a shadow table: never cached, because a recorded access must have reached the device
/// when the step ends, and Hyp, which maps the device as Device, may make the next access. A line
/// left in a cache would be read instead, or written later. A Normal mapping also allows
/// speculative reads; that is the guest's choice, and here it lasts for one instruction.
inline constexpr Attributes traced_device{access_flag | s2_uncached | s2_read_write |
                                          execute_never};
/// The attributes in the normal table, while it does not trap, of a page with `in_shadow` in a
/// shadow table.
constexpr Attributes untraced(Attributes in_shadow) {
    if (in_shadow.bits == traced_device.bits) return guest_device;
    return in_shadow.bits == guest_data.bits ? guest_memory : in_shadow;
}
/// Memory that Hyp and the guest both read and write. Linux maps what is not its RAM as
/// Strongly-ordered. If it were cached on the other side, coherency could be lost, as with any
/// mismatched attributes (ARM ARM A3.5.7). So it is Non-cacheable for both, whatever the guest
/// chooses: the stages combine to the lesser cacheability (B3.6.6). Only the memory type may still
/// differ; that affects order, for which the barriers of abi/ring.hpp suffice.
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
/// Also what Hyp maps of the guest's own memory (trap/translate.hpp).
inline constexpr Attributes hyp_shared{s1_common | s1_uncached | execute_never};
inline constexpr Attributes hyp_device{s1_common | s1_device | execute_never};

} // namespace mmioscope::lpae
