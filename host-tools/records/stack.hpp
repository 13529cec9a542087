// The stack that a record owns (abi/stack.hpp).
#pragma once

#include "abi/stack.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mmioscope::trace {

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
