// The stack that a record owns (abi/stack.hpp).
#pragma once

#include "abi/stack.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mmioscope::trace {

inline constexpr std::size_t stack_registers = std::size(abi::StackHead{}.registers); ///< from r4

/// Of the first of `records`, behind which its pieces lie: r4 to r11, and the words from SP on, as
/// far as they are there. Empty: it has no stack.
inline std::vector<std::uint32_t> stack_of(std::span<const abi::Record> records) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 1; i < records.size() && abi::goes_on(records[i - 1]) &&
                            abi::follows(records[i], records[i - 1]);
         ++i) {
        const std::uint8_t* const piece = abi::bytes_of(records[i]);
        bytes.insert(bytes.end(), piece, piece + abi::bytes_in(records[i]));
    }
    abi::PayloadKind kind{};
    if (bytes.size() < sizeof(abi::StackHead)) {
        return {};
    }
    std::memcpy(&kind, bytes.data(), sizeof kind);
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t) - 1);
    std::memcpy(words.data(), bytes.data() + sizeof kind, words.size() * sizeof words[0]);
    return kind == abi::PayloadKind::stack ? words : std::vector<std::uint32_t>();
}

} // namespace mmioscope::trace
