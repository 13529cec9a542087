// What has to hold of a flattened device tree before libfdt may walk it (Devicetree Specification, 5).
//
// libfdt up to 1.6 adds a property's length to an offset of 32 bits without a look. A length close to 2^32 leads back to
// where it stands, and fdt_check_full(), which is to find such things, never ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mmioscope::abi {

namespace flat_tree {

inline constexpr std::uint32_t begin_node = 1;
inline constexpr std::uint32_t end_node = 2;
inline constexpr std::uint32_t property = 3;
inline constexpr std::uint32_t nothing = 4;

/// The big-endian word at `offset`, of which all four bytes are there.
inline std::uint32_t word(const std::uint8_t* tree, std::size_t offset) {
    const std::uint8_t* at = tree + offset;
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
           std::uint32_t{at[3]};
}

/// Where the token behind a node's name, or a property's value, begins.
constexpr std::size_t aligned(std::size_t offset) {
    return (offset + 3) & ~std::size_t{3};
}

} // namespace flat_tree

/// Whether each property up to the end of the structure block lies in the `size` bytes at `blob`. What else may be
/// wrong with a tree is libfdt's to find; of the format's versions these are 16 and later, whose
/// values have no other alignment.
inline bool properties_end(const void* blob, std::size_t size) {
    using namespace flat_tree;
    const auto* tree = static_cast<const std::uint8_t*>(blob);
    constexpr std::size_t header = 40;
    if (size < header || size > INT32_MAX) return false;
    if (word(tree, 20) < 16 || word(tree, 8) % 4 != 0) return false;
    for (std::size_t at = word(tree, 8); at < size && size - at >= 4;) {
        const std::uint32_t token = word(tree, at);
        at += 4;
        if (token == begin_node) {
            const void* end = std::memchr(tree + at, 0, size - at);
            if (end == nullptr) return false;
            at = aligned(static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - tree) + 1);
        } else if (token == property) {
            if (size - at < 8 || word(tree, at) > size - at - 8) return false;
            at = aligned(at + 8 + word(tree, at));
        } else if (token != end_node && token != nothing) {
            return true; // the end, or a damage that stops libfdt, too
        }
    }
    return true;
}

} // namespace mmioscope::abi
