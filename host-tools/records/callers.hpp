// Section `callers` of a trace file: return addresses for accesses where LR is not the return
// address of the function. Payload: one word for each record of the following section of records.
//
// The section directly precedes that section of records, and applies to no other. For records
// without such a section, LR is the caller. Of a record with a stack (abi/stack.hpp) the word is
// the return address even if LR has it: then that is proved.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "abi/stack.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

// The stack that a record owns (abi/stack.hpp).

inline constexpr std::size_t stack_registers = std::size(abi::StackHead{}.registers); ///< from r4

/// Of the first of `records`, behind which its pieces lie: r4 to r11, and the words from SP on, as
/// far as they are there. Empty: it has no stack.
inline std::vector<std::uint32_t> stack_of(std::span<const abi::Record> records) {
    std::array<std::uint32_t, abi::payload_limit / 4> words; // NOLINT: filled as far as it counts
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
    std::size_t size = 0;
    for (std::size_t i = 1;
         i < records.size() && size <= sizeof words - abi::piece_bytes &&
         abi::goes_on(records[i - 1]) && abi::follows(records[i], records[i - 1]);
         ++i) {
        std::memcpy(bytes + size, abi::bytes_of(records[i]), abi::bytes_in(records[i]));
        size += abi::bytes_in(records[i]);
    }
    const bool is_stack = size >= sizeof(abi::StackHead) &&
                          words[0] == static_cast<std::uint32_t>(abi::PayloadKind::stack);
    return is_stack ? std::vector(words.begin() + 1, words.begin() + static_cast<long>(size / 4))
                    : std::vector<std::uint32_t>();
}

} // namespace mmioscope::trace
