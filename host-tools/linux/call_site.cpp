#include "linux/call_site.hpp"

namespace mmioscope::linux_guest {

namespace {

/// The two's complement number in the low `bits` of `value`.
std::uint32_t extended(std::uint32_t value, unsigned bits) {
    const std::uint32_t sign = 1u << (bits - 1);
    return ((value & (2 * sign - 1)) ^ sign) - sign;
}

// ARM ARM A8.8.25 (BL, BLX) and A8.8.26 (BLX by a register).
std::optional<Call> arm_call(const AddressSpace& space, std::uint32_t at) {
    const std::optional<std::uint32_t> word = space.word(at);
    if (!word) {
        return std::nullopt;
    }
    const std::uint32_t target = at + 8 + extended(*word << 2, 26);
    if ((*word & 0xfe00'0000) == 0xfa00'0000) {
        return Call{target | (*word >> 23 & 2)};
    }
    if ((*word & 0xf000'0000) == 0xf000'0000) {
        return std::nullopt;
    }
    if ((*word & 0x0f00'0000) == 0x0b00'0000) {
        return Call{target};
    }
    return (*word & 0x0fff'fff0) == 0x012f'ff30 ? std::optional(Call{}) : std::nullopt;
}

std::optional<std::uint32_t> halfword(const AddressSpace& space, std::uint32_t at) {
    const std::optional<std::uint32_t> word = space.word(at & ~3u);
    return word ? std::optional(*word >> (at & 2) * 8 & 0xffff) : std::nullopt;
}

// Likewise, encodings T1 and T2. A halfword that looks like BLX by a register may be the end of a
// longer instruction: that is not a call to the requested function either.
std::optional<Call> thumb_call(const AddressSpace& space, std::uint32_t behind) {
    const std::optional<std::uint32_t> first = halfword(space, behind - 4);
    const std::optional<std::uint32_t> second = first ? halfword(space, behind - 2) : std::nullopt;
    if (!second) {
        return std::nullopt;
    }
    if ((*first & 0xf800) == 0xf000 && (*second & 0xc000) == 0xc000) {
        const std::uint32_t s = *first >> 10 & 1;
        const std::uint32_t i1 = ~(*second >> 13 ^ s) & 1, i2 = ~(*second >> 11 ^ s) & 1;
        const std::uint32_t offset = extended(
            s << 24 | i1 << 23 | i2 << 22 | (*first & 0x3ff) << 12 | (*second & 0x7ff) << 1, 25);
        const bool to_arm = (*second & 0x1000) == 0;
        return Call{to_arm ? (behind & ~3u) + offset : behind + offset};
    }
    return (*second & 0xff87) == 0x4780 ? std::optional(Call{}) : std::nullopt;
}

} // namespace

std::optional<Call> call_before(const AddressSpace& space, std::uint32_t address) {
    if ((address & 1) != 0) {
        return thumb_call(space, address - 1);
    }
    return address % 4 == 0 ? arm_call(space, address - 4) : std::nullopt;
}

} // namespace mmioscope::linux_guest
