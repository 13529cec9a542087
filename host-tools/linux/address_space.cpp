#include "linux/address_space.hpp"

#include <array>
#include <string_view>

namespace mmioscope::linux_guest {

namespace {

constexpr std::uint64_t short_table = 0x4000;       ///< size and alignment with TTBCR.N = 0
constexpr std::uint64_t no_ram = ~std::uint64_t{0}; ///< not RAM

} // namespace

// ARM ARM B3.5.1.
inline std::uint64_t AddressSpace::by_short(std::uint32_t address) const {
    const std::uint32_t first = memory_.word(table_ + (address >> 20) * 4).value_or(0);
    constexpr std::uint32_t supersection = 1u << 18;
    if ((first & (supersection | 2)) == 2) {
        return (first & 0xfff0'0000) | (address & 0xf'ffff);
    }
    return (first & 3) == 0 ? no_ram : by_other_short(first, address);
}

inline std::uint64_t AddressSpace::mapped(std::uint32_t address) const {
    return format_ == Format::short_descriptors ? by_short(address)
                                                : by_long(address).value_or(no_ram);
}

std::optional<AddressSpace> AddressSpace::find(const PhysicalMemory& memory, std::uint64_t limit,
                                               std::uint32_t virtual_address,
                                               std::uint64_t physical_address) {
    const std::uint64_t size = std::min(limit, memory.size());
    for (std::uint64_t offset = 0; offset < size; offset += page) {
        const AddressSpace by_long(memory, Format::long_descriptors, memory.base() + offset);
        if (by_long.physical(virtual_address) == physical_address) {
            return by_long;
        }
        const AddressSpace by_short(memory, Format::short_descriptors, memory.base() + offset);
        if (offset % short_table == 0 && by_short.physical(virtual_address) == physical_address) {
            return by_short;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> AddressSpace::physical(std::uint32_t address) const {
    const std::uint64_t at = mapped(address);
    return at != no_ram ? std::optional(at) : std::nullopt;
}

std::optional<std::uint32_t> AddressSpace::word(std::uint32_t address) const {
    return memory_.word(mapped(address));
}

// Host and guest are little-endian.
std::optional<std::string> AddressSpace::text(std::uint32_t address, std::uint32_t limit) const {
    std::array<std::uint32_t, 16> copy;
    std::string text;
    while (text.size() < limit) {
        const std::uint32_t first = address & ~3u, skip = address % 4;
        const std::size_t left = limit - text.size();
        const std::size_t most = std::min<std::size_t>(page - first % page, skip + left + 3) / 4;
        const auto words = memory_.words(mapped(first), std::min(most, copy.size()));
        if (words.empty()) {
            return std::nullopt;
        }
        std::ranges::transform(words, copy.begin(), PhysicalMemory::load<std::uint32_t>);
        const std::string_view bytes(reinterpret_cast<const char*>(copy.data()) + skip,
                                     std::min(4 * words.size() - skip, left));
        const std::size_t end = bytes.find('\0');
        text += bytes.substr(0, end);
        if (end != bytes.npos) {
            return text;
        }
        address += static_cast<std::uint32_t>(bytes.size());
    }
    return std::nullopt;
}

std::uint64_t AddressSpace::by_other_short(std::uint32_t first, std::uint32_t address) const {
    if ((first & 2) != 0) { // a supersection
        const std::uint64_t high = ((first >> 20) & 0xf) | ((first >> 1) & 0xf0);
        return high << 32 | (first & 0xff00'0000) | (address & 0xff'ffff);
    }
    const std::uint64_t second_table = first & 0xffff'fc00;
    const std::uint32_t second =
        memory_.word(second_table + ((address >> 12) & 0xff) * 4).value_or(0);
    if ((second & 3) == 0) {
        return no_ram;
    }
    return (second & 2) != 0 ? (second & 0xffff'f000) | (address & 0xfff)
                             : (second & 0xffff'0000) | (address & 0xffff);
}

// ARM ARM B3.6.1. Input addresses have 32 bits, so the first level has four entries.
std::optional<std::uint64_t> AddressSpace::by_long(std::uint32_t address) const {
    constexpr std::uint64_t output = 0xff'ffff'f000;
    const std::optional<std::uint64_t> first = memory_.doubleword(table_ + (address >> 30) * 8);
    if (!first || (*first & 3) != 3) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> second =
        memory_.doubleword((*first & output) + ((address >> 21) & 0x1ff) * 8);
    if (!second || (*second & 1) == 0) {
        return std::nullopt;
    }
    if ((*second & 2) == 0) {
        return (*second & output & ~0x1f'ffffull) | (address & 0x1f'ffff);
    }
    const std::optional<std::uint64_t> third =
        memory_.doubleword((*second & output) + ((address >> 12) & 0x1ff) * 8);
    if (!third || (*third & 3) != 3) {
        return std::nullopt;
    }
    return (*third & output) | (address & 0xfff);
}

} // namespace mmioscope::linux_guest
