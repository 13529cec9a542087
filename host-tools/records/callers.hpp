// Section `callers` of a trace file: return addresses for accesses where LR is not the return
// address of the function. Payload: one word for each record of the following section of records.
//
// The section directly precedes that section of records, and applies to no other. For records
// without such a section, LR is the caller. Of a record with a stack (abi/stack.hpp) the word is the
// return address even if LR has it: then that is proved.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope::trace {

inline constexpr abi::SectionType callers_section{15};

/// A return address with the Thumb bit, as in LR. 0: LR is not one, and none is known.
using Caller = std::uint32_t;
/// LR is the return address. No function returns to this value: Linux has no code at the end of the
/// address space.
inline constexpr Caller lr_holds = 0xffff'ffff;

constexpr std::uint32_t return_address(const abi::Record& record, Caller caller) {
    return caller == lr_holds ? record.lr : caller;
}

/// Whether LR is the return address of every record, so that no section is needed.
inline bool lr_holds_for_all(std::span<const Caller> callers) {
    return std::ranges::all_of(callers, [](Caller caller) { return caller == lr_holds; });
}

/// The payload of such a section, as one word for each of `records` records. Empty if it has fewer.
inline std::span<const Caller> callers_of(std::span<const std::byte> payload, std::size_t records) {
    const std::span<const Caller> all(reinterpret_cast<const Caller*>(payload.data()),
                                      payload.size() / sizeof(Caller));
    return all.size() < records ? std::span<const Caller>() : all.first(records);
}

/// Whether the guest ran kernel code. Records that no guest instruction made have no mode, and the
/// hypervisor's own accesses come from its own code.
constexpr bool in_kernel(const abi::Record& record) {
    constexpr unsigned mode_bits = 0x1f; // CPSR.M (ARM ARM B1.3.1)
    constexpr unsigned user = 0x10;
    const unsigned mode = record.mode & mode_bits;
    return mode != 0 && mode != user && record.type != abi::RecordType::own;
}

} // namespace mmioscope::trace
