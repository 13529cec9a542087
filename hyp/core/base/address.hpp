// Addresses as types: one kind cannot be passed for another, and every conversion has a name.
#pragma once

#include <compare>
#include <cstdint>

namespace mmioscope {

/// An address in the address space `Tag`; `Word` is wide enough for it.
template <class Tag, class Word>
struct Address {
    Word value{};

    constexpr auto operator<=>(const Address&) const = default;
    constexpr Address operator+(Word offset) const { return {static_cast<Word>(value + offset)}; }
    constexpr Word operator-(Address other) const { return static_cast<Word>(value - other.value); }
};

/// As on the bus; 40 bits (ARM ARM B3.6).
using PhysicalAddress = Address<struct PhysicalTag, std::uint64_t>;
/// The output of the guest's stage 1; 40 bits, of which stage 2 here translates 32.
using IntermediateAddress = Address<struct IntermediateTag, std::uint64_t>;
/// As the guest's program sees it.
using VirtualAddress = Address<struct VirtualTag, std::uint32_t>;

/// Stage 2 maps every guest address to itself, so there is no other conversion.
constexpr PhysicalAddress identity(IntermediateAddress a) {
    return {a.value};
}
constexpr IntermediateAddress identity(PhysicalAddress a) {
    return {a.value};
}

inline constexpr std::uint64_t page_size = 4096;

constexpr std::uint64_t page_floor(std::uint64_t a) {
    return a & ~(page_size - 1);
}
constexpr std::uint64_t page_ceil(std::uint64_t a) {
    return page_floor(a + page_size - 1);
}

/// Bytes [begin, end) of physical memory.
struct Range {
    std::uint64_t begin{};
    std::uint64_t end{};

    constexpr bool empty() const { return begin >= end; }
    constexpr std::uint64_t size() const { return empty() ? 0 : end - begin; }
    constexpr bool contains(std::uint64_t a) const { return a >= begin && a < end; }
    constexpr bool contains(const Range& r) const { return r.begin >= begin && r.end <= end; }
    constexpr bool overlaps(const Range& r) const { return begin < r.end && r.begin < end; }
};

} // namespace mmioscope
