// The flattened device tree (Devicetree Specification, chapter 5), and what must hold before libfdt
// may walk one.
//
// libfdt up to 1.6 adds a property's length to a 32-bit offset without a check. A length close to
// 2^32 leads back to the property itself, and fdt_check_full(), which should detect that, never
// ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mmioscope::abi {

namespace flat_tree {

inline constexpr std::uint32_t begin_node = 1;
inline constexpr std::uint32_t end_node = 2;
inline constexpr std::uint32_t property_token = 3;
inline constexpr std::uint32_t nothing = 4;
inline constexpr std::uint32_t end_of_structure = 9;

// Offsets of the words of the header.
inline constexpr std::uint32_t magic = 0xd00d'feed;
inline constexpr std::size_t size_at = 4;
inline constexpr std::size_t structure_at = 8;
inline constexpr std::size_t names_at = 12;
inline constexpr std::size_t reserved_at = 16; ///< 16 bytes each; zeros end the list
inline constexpr std::size_t version_at = 20;
inline constexpr std::size_t oldest_reader_at = 24; ///< version that can read it
inline constexpr std::size_t boot_cpu_at = 28;
inline constexpr std::size_t names_size = 32;
inline constexpr std::size_t structure_size = 36; ///< from version 17 on
inline constexpr std::size_t header_size = 40;

/// The big-endian word at `offset`; all four bytes must be inside the tree.
inline std::uint32_t word(const std::uint8_t* tree, std::size_t offset) {
    const std::uint8_t* at = tree + offset;
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
           std::uint32_t{at[3]};
}

/// The offset of the next token, after a node's name or a property's value that ends at `offset`.
constexpr std::size_t aligned(std::size_t offset) {
    return (offset + 3) & ~std::size_t{3};
}

} // namespace flat_tree

/// Whether each property up to the end of the structure block lies inside the `size` bytes at
/// `blob`. Only versions 16 and later are accepted, in which values have no other alignment than 4.
/// libfdt finds everything else that may be wrong.
inline bool properties_end(const void* blob, std::size_t size) {
    using namespace flat_tree;
    const auto* tree = static_cast<const std::uint8_t*>(blob);
    if (size < header_size || size > INT32_MAX) return false;
    if (word(tree, version_at) < 16 || word(tree, structure_at) % 4 != 0) return false;
    for (std::size_t at = word(tree, structure_at); at < size && size - at >= 4;) {
        const std::uint32_t token = word(tree, at);
        at += 4;
        if (token == begin_node) {
            const void* end = std::memchr(tree + at, 0, size - at);
            if (end == nullptr) return false;
            at =
                aligned(static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - tree) + 1);
        } else if (token == property_token) {
            if (size - at < 8 || word(tree, at) > size - at - 8) return false;
            at = aligned(at + 8 + word(tree, at));
        } else if (token != end_node && token != nothing) {
            return true; // the end, or damage that stops libfdt as well
        }
    }
    return true;
}

} // namespace mmioscope::abi
