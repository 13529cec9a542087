#include "linux/arm_effect.hpp"

#include <bit>

namespace mmioscope::linux_guest {

namespace {

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

} // namespace

Flow follow(std::uint32_t word, std::uint32_t address, Frame& frame) {
    return Instruction(word, address, frame).follow();
}

} // namespace mmioscope::linux_guest
