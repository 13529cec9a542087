#include "linux/return_place.hpp"

#include "linux/arm_effect.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace mmioscope::linux_guest {

namespace {

constexpr std::uint32_t longest = 16 * 1024; ///< limit for functions to follow, in bytes

class Walk {
public:
    Walk(const AddressSpace& space, const symbols::Extent& function)
        : space_(space), function_(function), frames_(function.size / 4) {}

    ReturnPlace run(std::uint32_t pc) {
        go(function_.start, Frame{});
        while (!to_do_.empty()) {
            const std::uint32_t at = to_do_.back();
            to_do_.pop_back();
            step(at);
        }
        const std::optional<Frame>& frame = frames_[(pc - function_.start) / 4];
        if (!frame || frame->torn) {
            return {};
        }
        if (frame->lr_intact && !lost_) {
            return {ReturnPlace::Kind::lr, 0, frame->depth};
        }
        return frame->saved != 0 ? ReturnPlace{ReturnPlace::Kind::stack,
                                               frame->depth - frame->saved, frame->depth}
                                 : ReturnPlace{};
    }

private:
    // What two paths have in common.
    static Frame met(const Frame& one, const Frame& other) {
        Frame both = one;
        both.torn = one.torn || other.torn || one.depth != other.depth;
        both.lr_intact = one.lr_intact && other.lr_intact;
        both.saved = one.saved == other.saved ? one.saved : 0;
        return both;
    }

    bool has(std::uint32_t address) const {
        return address % 4 == 0 && address - function_.start < frames_.size() * 4;
    }

    void go(std::uint32_t to, const Frame& frame) {
        if (!has(to)) {
            return; // outside the function
        }
        std::optional<Frame>& known = frames_[(to - function_.start) / 4];
        const Frame now = known ? met(*known, frame) : frame;
        if (known != now) {
            known = now;
            to_do_.push_back(to);
        }
    }

    // Each step only removes knowledge from a frame, so this ends.
    void step(std::uint32_t at) {
        const std::optional<std::uint32_t> word = space_.word(at);
        const std::optional<std::uint32_t> next = space_.word(at + 4);
        Frame frame = *frames_[(at - function_.start) / 4];
        if (!word) {
            lost_ = true;
            return;
        }
        if (next && is_ftrace(*word, *next)) {
            go(at + 8, frame);
            return;
        }
        const Flow flow = follow(*word, at, frame);
        lost_ = lost_ || flow.lost;
        if (flow.goes_on) {
            go(at + 4, frame);
        }
        if (flow.target) {
            go(*flow.target, frame);
        }
        if (flow.table) {
            table(at + 8, frame);
        }
    }

    // A switch: a table of addresses in the function begins here.
    void table(std::uint32_t at, const Frame& frame) {
        for (std::optional<std::uint32_t> to = space_.word(at); has(at) && to && has(*to);
             to = space_.word(at += 4)) {
            go(*to, frame);
        }
    }

    const AddressSpace& space_;
    symbols::Extent function_;
    std::vector<std::optional<Frame>> frames_; ///< right before each instruction
    std::vector<std::uint32_t> to_do_;
    bool lost_ = false; ///< some paths were not followed
};

} // namespace

ReturnPlace return_place(const AddressSpace& space, const symbols::Extent& function,
                         std::uint32_t pc) {
    const bool fits = function.start % 4 == 0 && function.size <= longest && pc % 4 == 0 &&
                      pc - function.start < function.size / 4 * 4;
    return fits ? Walk(space, function).run(pc) : ReturnPlace{};
}

bool branches_out(const AddressSpace& space, const symbols::Extent& function,
                  std::uint32_t target) {
    const std::uint32_t size = std::min(function.size, longest);
    for (std::uint32_t offset = 0; offset + 4 <= size; offset += 4) {
        const std::uint32_t at = function.start + offset;
        const std::optional<std::uint32_t> word = space.word(at);
        if (word && branch_target(*word, at) == target) {
            return true;
        }
    }
    return false;
}

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
