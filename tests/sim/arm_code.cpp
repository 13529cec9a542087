#include "arm_code.hpp"

#include "core.hpp"
#include "scheduler.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace mmioscope::sim {

namespace {
const std::uint32_t left_out = [] {
    const char* address = std::getenv("MMIOSCOPE_LEFT_OUT");
    return address != nullptr ? static_cast<std::uint32_t>(std::strtoul(address, nullptr, 0)) : 0;
}();
} // namespace

std::uint32_t LinkedCode::symbol(const char* name) const {
    for (const Symbol& symbol : symbols)
        if (std::strcmp(symbol.name, name) == 0) return symbol.value;
    throw Failure{std::string("no symbol of the hypervisor's assembly: ") + name};
}

void ArmCode::step() {
    const std::uint32_t offset = at_ - code_.base;
    if (offset / 4 >= code_.words.size()) throw Failure{"Hyp runs outside of its code"};
    next_ = at_ + 4;
    if (at_ != left_out) execute(code_.words[offset / 4]);
    at_ = next_;
}

void ArmCode::unknown(std::uint32_t word) const {
    char text[64];
    std::snprintf(text, sizeof text, "an instruction at %x that is not simulated: %08x", at_, word);
    throw Failure{text};
}

void ArmCode::set(unsigned n, std::uint32_t value) {
    if (n == pc) next_ = value;
    else r_[n] = value;
}

/// The flags of a + b + carry.
void ArmCode::compare(std::uint32_t a, std::uint32_t b, bool carry) {
    const std::uint64_t sum = std::uint64_t{a} + b + (carry ? 1 : 0);
    const auto result = static_cast<std::uint32_t>(sum);
    n_ = (result >> 31) != 0;
    z_ = result == 0;
    c_ = sum >> 32 != 0;
    v_ = ((~(a ^ b) & (a ^ result)) >> 31) != 0;
}

/// A register shifted by LSL or LSR, by an amount or by another register.
std::uint32_t ArmCode::shifted(std::uint32_t word) const {
    const std::uint64_t value = get(bits(word, 3, 0));
    const bool by_register = bit_of(word, 4);
    const bool right = bits(word, 6, 5) == 1;
    if (bits(word, 6, 5) > 1) unknown(word);
    unsigned amount = by_register ? get(bits(word, 11, 8)) & 0xff : bits(word, 11, 7);
    if (right && !by_register && amount == 0) amount = 32;
    if (amount > 32) return 0;
    return static_cast<std::uint32_t>(right ? value >> amount : value << amount);
}

/// The last bit that it shifts out; by another register it is not simulated.
bool ArmCode::carry_of_shift(std::uint32_t word) const {
    const unsigned amount = bits(word, 11, 7);
    const bool right = bits(word, 6, 5) == 1;
    if (bit_of(word, 4) || (!right && amount == 0)) return c_;
    return bit_of(get(bits(word, 3, 0)), right ? (amount - 1) & 31 : 32 - amount);
}

void ArmCode::data_processing(std::uint32_t word) {
    const bool immediate = bit_of(word, 25);
    const bool flags = bit_of(word, 20);
    const unsigned to = bits(word, 15, 12);
    const std::uint32_t first = get(bits(word, 19, 16));
    const std::uint32_t second =
        immediate ? std::rotr(bits(word, 7, 0), static_cast<int>(2 * bits(word, 11, 8)))
                  : shifted(word);
    const bool carry = immediate ? c_ : carry_of_shift(word);
    const auto logical = [&](std::uint32_t result) {
        if (flags) n_ = (result >> 31) != 0, z_ = result == 0, c_ = carry;
        return result;
    };
    const auto sum = [&](std::uint32_t a, std::uint32_t b, bool carry) {
        if (flags) compare(a, b, carry);
        return a + b + (carry ? 1 : 0);
    };
    switch (bits(word, 24, 21)) {
    case 0: return set(to, logical(first & second));
    case 1: return set(to, logical(first ^ second));
    case 2: return set(to, sum(first, ~second, true));
    case 3: return set(to, sum(second, ~first, true)); // RSB
    case 4: return set(to, sum(first, second, false));
    case 6: return set(to, sum(first, ~second, c_)); // SBC
    case 8: logical(first & second); return;
    case 10: sum(first, ~second, true); return;
    case 11: sum(first, second, false); return;
    case 12: return set(to, logical(first | second));
    case 13: return set(to, logical(second));
    case 14: return set(to, logical(first & ~second));
    case 15: return set(to, logical(~second));
    default: unknown(word);
    }
}

void ArmCode::media(std::uint32_t word) {
    const unsigned to = bits(word, 15, 12);
    const std::uint32_t from = get(bits(word, 3, 0));
    const unsigned low = bits(word, 11, 7);
    const unsigned high = bits(word, 20, 16);
    if (bits(word, 27, 21) == 0x3f && bits(word, 6, 4) == 5) // UBFX
        return set(to, bits(from, low + high, low));
    if (bits(word, 27, 21) == 0x3e && bits(word, 6, 4) == 1) { // BFI
        const std::uint32_t mask = bits(~0u, high - low, 0) << low;
        return set(to, (get(to) & ~mask) | ((from << low) & mask));
    }
    if ((word & 0x0fff'03f0) == 0x06ef'0070) return set(to, from & 0xff);   // UXTB
    if ((word & 0x0fff'03f0) == 0x06ff'0070) return set(to, from & 0xffff); // UXTH
    unknown(word);
}

/// LDR, STR, LDRB, STRB.
void ArmCode::single(std::uint32_t word) {
    const std::uint32_t base = get(bits(word, 19, 16));
    std::uint32_t offset = bits(word, 11, 0);
    if (bit_of(word, 25)) {
        if (bits(word, 6, 5) > 1) unknown(word);
        const std::uint32_t index = get(bits(word, 3, 0));
        const unsigned amount = bits(word, 11, 7);
        offset = bits(word, 6, 5) == 0 ? index << amount : index >> amount;
    }
    const std::uint32_t moved = bit_of(word, 23) ? base + offset : base - offset;
    const bool pre = bit_of(word, 24);
    const std::uint32_t address = pre ? moved : base;
    const unsigned size = bit_of(word, 22) ? 0 : 2;
    if (bit_of(word, 20)) {
        const auto value = static_cast<std::uint32_t>(load(address, size));
        set(bits(word, 15, 12), value);
    } else {
        store(address, size, get(bits(word, 15, 12)) & (size == 0 ? 0xff : ~0u));
    }
    if (!pre || bit_of(word, 21)) set(bits(word, 19, 16), moved);
}

/// LDRH, STRH, LDRD, STRD with an immediate offset.
void ArmCode::extra(std::uint32_t word) {
    if (!bit_of(word, 22) || !bit_of(word, 24) || bit_of(word, 21)) unknown(word);
    const std::uint32_t offset = bits(word, 11, 8) << 4 | bits(word, 3, 0);
    const std::uint32_t base = get(bits(word, 19, 16));
    const std::uint32_t address = bit_of(word, 23) ? base + offset : base - offset;
    const unsigned to = bits(word, 15, 12);
    const bool whole = address % 8 == 0; // then one access (A3.5.3)
    switch (bits(word, 6, 5) | (bit_of(word, 20) ? 4 : 0)) {
    case 1: return store(address, 1, get(to) & 0xffff);
    case 5: return set(to, static_cast<std::uint32_t>(load(address, 1)));
    case 2: // LDRD
        if (whole) {
            const std::uint64_t value = load(address, 3);
            set(to, static_cast<std::uint32_t>(value));
            set(to + 1, static_cast<std::uint32_t>(value >> 32));
        } else {
            set(to, static_cast<std::uint32_t>(load(address, 2)));
            set(to + 1, static_cast<std::uint32_t>(load(address + 4, 2)));
        }
        return;
    case 3: // STRD
        if (whole) return store(address, 3, get(to) | std::uint64_t{get(to + 1)} << 32);
        store(address, 2, get(to));
        return store(address + 4, 2, get(to + 1));
    default: unknown(word);
    }
}

/// LDM and STM: IA, IB and DB.
void ArmCode::multiple(std::uint32_t word) {
    const std::uint32_t list = bits(word, 15, 0);
    const unsigned size = 4 * static_cast<unsigned>(std::popcount(list));
    const bool before = bit_of(word, 24);
    const bool up = bit_of(word, 23);
    if (bit_of(word, 22) || (!before && !up)) unknown(word);
    const std::uint32_t base = get(bits(word, 19, 16));
    std::uint32_t address = up ? base + (before ? 4 : 0) : base - size;
    for (unsigned n = 0; n < 16; ++n) {
        if (!bit_of(list, n)) continue;
        if (bit_of(word, 20)) set(n, static_cast<std::uint32_t>(load(address, 2)));
        else store(address, 2, get(n));
        address += 4;
    }
    if (bit_of(word, 21)) set(bits(word, 19, 16), up ? base + size : base - size);
}

/// MUL, MLA.
void ArmCode::multiply(std::uint32_t word) {
    const std::uint32_t product = get(bits(word, 3, 0)) * get(bits(word, 11, 8));
    set(bits(word, 19, 16), product + (bit_of(word, 21) ? get(bits(word, 15, 12)) : 0));
}

void ArmCode::execute(std::uint32_t word) {
    if (word >> 28 == 15) return barrier(word);
    if (!condition_holds(word >> 28, n_, z_, c_, v_)) return;
    switch (bits(word, 27, 25)) {
    case 0:
        if ((word & 0x0f80'0ff0) == 0x0180'0f90) return exclusive(word);
        if ((word & 0x0fd0'00f0) == 0x0000'0090) return multiply(word);
        if ((word & 0x0fff'fff0) == 0x012f'ff10) return set(pc, get(bits(word, 3, 0))); // BX
        if ((word & 0x0fff'0ff0) == 0x016f'0f10)                                        // CLZ
            return set(bits(word, 15, 12),
                       static_cast<unsigned>(std::countl_zero(get(bits(word, 3, 0)))));
        if (bit_of(word, 7) && bit_of(word, 4)) return extra(word);
        if ((word & 0x0190'0000) == 0x0100'0000) return miscellaneous(word);
        return data_processing(word);
    case 1:
        if ((word & 0x0fff'0000) == 0x0320'0000) return miscellaneous(word); // WFI
        return data_processing(word);
    case 2: return single(word);
    case 3: return bit_of(word, 4) ? media(word) : single(word);
    case 4: return multiple(word);
    case 5: {
        const auto offset = static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 8) >> 6);
        if (bit_of(word, 24)) return call(at_ + 8 + offset);
        next_ = at_ + 8 + offset;
        return;
    }
    case 6: return coprocessor_pair(word);
    case 7:
        if (!bit_of(word, 24) && bit_of(word, 4)) return coprocessor(word);
        [[fallthrough]];
    default: unknown(word);
    }
}

} // namespace mmioscope::sim
