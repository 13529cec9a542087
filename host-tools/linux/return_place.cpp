#include "linux/return_place.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace mmioscope::linux_guest {

namespace {

// The effect of one ARM instruction on SP, LR and PC.

/// SP and the return address, relative to the start of the function.
struct Frame {
    std::uint32_t depth = 0; ///< bytes that SP has moved down
    std::uint32_t saved = 0; ///< depth of the word with the return address; 0: none
    bool lr_intact = true;   ///< LR still has the return address
    bool torn = false;       ///< SP is unknown

    bool operator==(const Frame&) const = default;
};

struct Flow {
    bool goes_on = true;                 ///< continues with the next instruction
    std::optional<std::uint32_t> target; ///< may continue at this address
    bool table = false;                  ///< may jump by a table two words behind it
    bool lost = false;                   ///< may continue at an unknown place
};

/// What compilers insert before a function's body for ftrace: a push of LR, and a call whose target
/// pops it, or the pop that the kernel wrote over that call. Both together have no effect.
constexpr bool is_ftrace(std::uint32_t word, std::uint32_t next) {
    constexpr std::uint32_t push_lr = 0xe52d'e004, pop_lr = 0xe8bd'4000;
    const bool call = (next & 0xff00'0000) == 0xeb00'0000;
    return word == push_lr && (call || next == pop_lr);
}

/// The target of a B; nothing: `word` is another instruction.
constexpr std::optional<std::uint32_t> branch_target(std::uint32_t word, std::uint32_t address) {
    if ((word & 0x0f00'0000) != 0x0a00'0000 || word >> 28 == 15) {
        return std::nullopt;
    }
    return address + 8 + ((((word & 0xff'ffff) ^ 0x80'0000) - 0x80'0000) << 2);
}

constexpr std::uint32_t sp = 13, lr = 14, pc = 15;
constexpr std::uint32_t always = 14, unconditional = 15;
constexpr std::uint32_t deepest = 0x2000; ///< larger than any frame: the size of a kernel stack

constexpr std::uint32_t field(std::uint32_t word, unsigned low) {
    return word >> low & 15;
}
constexpr bool bit(std::uint32_t word, unsigned number) {
    return (word >> number & 1) != 0;
}

constexpr Flow nowhere{false, {}, false, false};
constexpr Flow lost{false, {}, false, true};

/// One instruction. Encodings: ARM ARM A5.
class Instruction {
public:
    Instruction(std::uint32_t word, std::uint32_t address, Frame& frame)
        : word_(word), address_(address), frame_(frame) {}

    Flow follow() {
        const std::uint32_t condition = word_ >> 28;
        if (condition == unconditional) {
            return without_condition();
        }
        const Frame before = frame_;
        Flow flow = by_class();
        if (condition != always) {
            // The instruction may be skipped.
            flow.goes_on = true;
            flow.lost = flow.lost || frame_.depth != before.depth;
            frame_ = {before.depth, before.saved, before.lr_intact && frame_.lr_intact,
                      before.torn};
        }
        return flow;
    }

private:
    // ARM ARM A5.7.
    Flow without_condition() {
        if ((word_ & 0xfe00'0000) == 0xf800'0000) { // SRS, RFE
            return lost;
        }
        if ((word_ & 0xff10'0000) == 0xf400'0000 && field(word_, 0) != pc) { // VLD1, VST1: back
            changes_lr(field(word_, 16) == lr);
            return field(word_, 16) == sp ? lost : Flow{};
        }
        changes_lr((word_ & 0xfe00'0000) == 0xfa00'0000); // BLX
        return (word_ & 0x0c00'0000) == 0x0c00'0000 ? coprocessor() : Flow{};
    }

    Flow by_class() {
        switch (word_ >> 25 & 7) {
        case 0: return bit(word_, 4) && bit(word_, 7) ? multiply_or_extra() : data();
        case 1: return data();
        case 2: return word_access();
        case 3: return bit(word_, 4) ? media() : word_access();
        case 4: return several();
        case 5: return branch();
        default: return coprocessor();
        }
    }

    // LR no longer has the return address, except after an instruction that restores it.
    void changes_lr(bool changes = true) { frame_.lr_intact = frame_.lr_intact && !changes; }

    // Moves SP down by `bytes`, modulo 2^32.
    Flow move_sp(std::uint32_t bytes) {
        frame_.depth += bytes;
        if (frame_.depth > deepest || frame_.depth % 4 != 0) {
            return lost;
        }
        if (frame_.saved > frame_.depth) {
            frame_.saved = 0; // memory below SP may change at any time
        }
        return {};
    }

    // A return that pops `bytes`. If it pops more than was pushed, an earlier push was missed: what
    // looked like a call of ftrace was none.
    Flow returns(std::uint32_t bytes) const {
        return !frame_.torn && bytes > frame_.depth && bytes <= deepest ? lost : nowhere;
    }

    void store_lr(std::uint32_t below) {
        if (frame_.lr_intact && frame_.saved == 0 && below <= deepest) {
            frame_.saved = below;
        }
    }
    void load_lr(std::uint32_t below) { frame_.lr_intact = below != 0 && below == frame_.saved; }

    Flow data() {
        if ((word_ & 0x0fff'ffd0) == 0x012f'ff10) { // BX, BLX
            changes_lr(bit(word_, 5));
            return bit(word_, 5) ? Flow{} : nowhere;
        }
        const std::uint32_t to = field(word_, 12);
        if ((word_ & 0x0190'0000) == 0x0110'0000) { // TST, TEQ, CMP, CMN
            return {};
        }
        if ((word_ & 0x0190'0000) == 0x0100'0000) { // MOVW, MOVT, status, hints and others
            changes_lr(to == lr || (!bit(word_, 25) && field(word_, 16) == lr));
            return to == sp ? lost : Flow{};
        }
        if (to == pc) {
            constexpr std::uint32_t mov = 0x01a0'0000;
            return (word_ & 0x0fe0'0ff0) == mov ? nowhere : lost;
        }
        changes_lr(to == lr);
        return to == sp ? data_to_sp() : Flow{};
    }

    // ADD or SUB of an immediate, ARM ARM A5.2.4.
    Flow data_to_sp() {
        const std::uint32_t number = std::rotr(word_ & 0xff, static_cast<int>(field(word_, 8)) * 2);
        switch (word_ & 0x0fff'f000) {
        case 0x024d'd000: return move_sp(number);
        case 0x028d'd000: return move_sp(0 - number);
        default: return lost;
        }
    }

    // Halfword, doubleword and exclusive accesses, and multiplications.
    Flow multiply_or_extra() {
        changes_lr(field(word_, 12) == lr || field(word_, 16) == lr);
        const bool multiplies = (word_ & 0x0f00'00f0) == 0x0000'0090;
        const bool writes_back =
            !multiplies && (word_ & 0x60) != 0 && (!bit(word_, 24) || bit(word_, 21));
        return writes_back && field(word_, 16) == sp ? lost : Flow{};
    }

    Flow media() {
        if ((word_ & 0x0ff0'00f0) == 0x07f0'00f0) { // UDF: BUG()
            return nowhere;
        }
        changes_lr(field(word_, 12) == lr || field(word_, 16) == lr);
        return {};
    }

    // ARM ARM A5.3.
    Flow word_access() {
        const bool load = bit(word_, 20), up = bit(word_, 23), before = bit(word_, 24);
        const bool writes_back = !before || bit(word_, 21);
        const std::uint32_t base = field(word_, 16), reg = field(word_, 12);
        const std::uint32_t number = word_ & 0xfff;
        const std::uint32_t down = up ? 0 - number : number;
        const bool by_number = !bit(word_, 25);
        if (load && reg == pc && (word_ & 0x0fff'fff0) == 0x079f'f100) { // LDR pc, [pc, r, LSL #2]
            return {false, {}, true, false};
        }
        if (load && reg == pc) {
            return base == sp ? returns(before ? 0 : 0 - down) : lost;
        }
        if (reg == lr && base == sp && by_number && !bit(word_, 22)) {
            const std::uint32_t below = frame_.depth + (before ? down : 0);
            load ? load_lr(below) : store_lr(below);
        } else {
            changes_lr(load && reg == lr);
        }
        changes_lr(writes_back && base == lr);
        if (writes_back && base == sp) {
            return by_number ? move_sp(down) : lost;
        }
        return load && reg == sp ? lost : Flow{};
    }

    // ARM ARM A5.5.
    Flow several() {
        const bool load = bit(word_, 20), writes_back = bit(word_, 21);
        const std::uint32_t base = field(word_, 16), list = word_ & 0xffff;
        const auto bytes = static_cast<std::uint32_t>(std::popcount(list)) * 4;
        const auto in_front = static_cast<std::uint32_t>(std::popcount(list & 0x3fff)) * 4;
        const bool push = !load && base == sp && (word_ >> 21 & 15) == 9; // DB with writeback
        const bool pop = load && base == sp && (word_ >> 21 & 15) == 5;   // IA with writeback
        if (load && bit(list, pc)) {
            return pop ? returns(bytes) : nowhere;
        }
        if (bit(list, lr)) {
            if (push) {
                store_lr(frame_.depth + bytes - in_front);
            } else if (pop) {
                load_lr(frame_.depth - in_front);
            } else {
                changes_lr(load);
            }
        }
        changes_lr(writes_back && base == lr);
        if (push || pop) {
            return load && bit(list, sp) ? lost : move_sp(push ? bytes : 0 - bytes);
        }
        return (load && bit(list, sp)) || (writes_back && base == sp) ? lost : Flow{};
    }

    // B, BL.
    Flow branch() {
        if (bit(word_, 24)) {
            changes_lr();
            return {};
        }
        return {false, branch_target(word_, address_), false, false};
    }

    // MRC, MRRC and others that may write LR; VFP loads and stores that move their base.
    Flow coprocessor() {
        changes_lr(bit(word_, 20) && (field(word_, 12) == lr || field(word_, 16) == lr));
        const bool writes_back = (word_ & 0x0e00'0000) == 0x0c00'0000 && bit(word_, 21);
        changes_lr(writes_back && field(word_, 16) == lr);
        return writes_back && field(word_, 16) == sp ? lost : Flow{};
    }

    std::uint32_t word_;
    std::uint32_t address_;
    Frame& frame_;
};

/// Applies the instruction `word` at `address` to `frame`. Anything but push, pop, or adding a
/// number to SP continues nowhere, and is lost. Treats unknown instructions as a change of LR.
Flow follow(std::uint32_t word, std::uint32_t address, Frame& frame) {
    return Instruction(word, address, frame).follow();
}

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
