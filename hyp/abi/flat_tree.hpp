// The flattened device tree (Devicetree Specification, 5), and what has to hold of one before libfdt may walk it.
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
inline constexpr std::uint32_t property_token = 3;
inline constexpr std::uint32_t nothing = 4;
inline constexpr std::uint32_t end_of_structure = 9;

// The header's words, by offset.
inline constexpr std::uint32_t magic = 0xd00d'feed;
inline constexpr std::size_t size_at = 4;
inline constexpr std::size_t structure_at = 8;
inline constexpr std::size_t names_at = 12;
inline constexpr std::size_t reserved_at = 16; ///< 16 bytes for each piece of reserved memory, the last one zero
inline constexpr std::size_t version_at = 20;
inline constexpr std::size_t oldest_reader_at = 24; ///< the version that can read it
inline constexpr std::size_t boot_cpu_at = 28;
inline constexpr std::size_t names_size = 32;
inline constexpr std::size_t structure_size = 36; ///< from version 17 on
inline constexpr std::size_t header_size = 40;

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
    if (size < header_size || size > INT32_MAX) return false;
    if (word(tree, version_at) < 16 || word(tree, structure_at) % 4 != 0) return false;
    for (std::size_t at = word(tree, structure_at); at < size && size - at >= 4;) {
        const std::uint32_t token = word(tree, at);
        at += 4;
        if (token == begin_node) {
            const void* end = std::memchr(tree + at, 0, size - at);
            if (end == nullptr) return false;
            at = aligned(static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - tree) + 1);
        } else if (token == property_token) {
            if (size - at < 8 || word(tree, at) > size - at - 8) return false;
            at = aligned(at + 8 + word(tree, at));
        } else if (token != end_node && token != nothing) {
            return true; // the end, or a damage that stops libfdt, too
        }
    }
    return true;
}

} // namespace mmioscope::abi
