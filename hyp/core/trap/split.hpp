// An unaligned access that does not lie in one page, or in one device: on the bus it is several,
// one for each byte (MemU[], ARM ARM B2.4.4). Only Normal memory allows it (A3.2.1).
//
// If its first page does not trap, it traps at the first byte of the second, and HSR describes an
// aligned access there (B3.13.5): only the instruction tells the two apart.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// may_be_split() of an access that is unaligned, or at the first byte of a page.
bool is_over_border(const Frame& frame, const DeviceAccess& access, unsigned size);

/// Whether the access of `1 << log2_size` bytes that trapped may be split. Known: access.va, pa and
/// span.
inline bool may_be_split(const Frame& frame, const DeviceAccess& access, unsigned log2_size) {
    const unsigned size = 1u << log2_size;
    constexpr std::uint32_t offset_in_page = page_size - 1;
    const bool usual =
        (access.va.value & (size - 1)) == 0 && (access.va.value & offset_in_page) != 0;
    return !usual && is_over_border(frame, access, size);
}

/// Whether the access `beat`, located, is split.
inline bool is_split(const Machine& machine, const Beat& beat) {
    const unsigned size = 1u << beat.log2_size;
    const std::uint32_t offset = beat.va.value & (page_size - 1);
    if (offset % size == 0) return false;
    return offset + size > page_size || machine.span_at(beat.pa + (size - 1)) != beat.span;
}

} // namespace mmioscope
