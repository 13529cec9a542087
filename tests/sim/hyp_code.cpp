#include "hyp_code.hpp"

#include "arch/control.hpp"
#include "machine/machine.hpp"
#include "simulation.hpp"
#include "trap/dispatch.hpp"
#include "trap/fast_path.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace mmioscope::sim {

namespace {

struct Symbol {
    std::uint32_t value;
    const char* name;
};

// `fast_path_base`, `fast_path_words` and `fast_path_symbols`, generated from the linked file.
#include "fast_path.inc"

constexpr std::uint32_t bits(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
}
constexpr bool bit_of(std::uint32_t word, unsigned n) {
    return (word >> n & 1) != 0;
}

/// The offset of an instruction to skip, to show that tests notice its absence.
const std::uint32_t left_out = [] {
    const char* offset = std::getenv("MMIOSCOPE_LEFT_OUT");
    return offset != nullptr ? static_cast<std::uint32_t>(std::strtoul(offset, nullptr, 0)) : ~0u;
}();

class HypCode {
public:
    HypCode(Simulation& simulation, Core& core, Cpu& cpu)
        : sim_(simulation), core_(core), cpu_(cpu) {}

    void run(Frame& frame);

private:
    static constexpr unsigned sp = 13, lr = 14, pc = 15;

    std::uint32_t get(unsigned n) const { return n == pc ? at_ + 8 : r_[n]; }
    void set(unsigned n, std::uint32_t value);
    void compare(std::uint32_t a, std::uint32_t b, bool carry);

    void execute(std::uint32_t word);
    void unconditional(std::uint32_t word);
    void data_processing(std::uint32_t word);
    void miscellaneous(std::uint32_t word);
    void media(std::uint32_t word);
    void single(std::uint32_t word);
    void extra(std::uint32_t word);
    void multiple(std::uint32_t word);
    void coprocessor(std::uint32_t word);
    void coprocessor_pair(std::uint32_t word);
    void exclusive(std::uint32_t word);
    std::uint32_t& special(std::uint32_t word);
    void call(std::uint32_t target);
    [[noreturn]] void unknown(std::uint32_t word) const;

    bool own(std::uint32_t address) const;
    std::uint64_t load(std::uint32_t address, unsigned log2_size);
    void store(std::uint32_t address, unsigned log2_size, std::uint64_t value);
    void abort(std::uint32_t hsr);

    Simulation& sim_;
    Core& core_;
    Cpu& cpu_;
    std::uint32_t r_[16]{};
    std::uint32_t elr_{};
    std::uint32_t spsr_{};
    std::uint32_t at_{};
    std::uint32_t next_{};
    bool n_{}, z_{}, c_{}, v_{};
    bool returned_{};
    std::uint32_t reserved_{}; ///< address of the last LDREX; 0: none
    std::uint32_t reserved_value_{};
};

void HypCode::unknown(std::uint32_t word) const {
    char text[64];
    std::snprintf(text, sizeof text, "an instruction at %x that is not simulated: %08x", at_, word);
    throw Failure{text};
}

void HypCode::set(unsigned n, std::uint32_t value) {
    if (n == pc) next_ = value;
    else r_[n] = value;
}

/// The flags of a + b + carry.
void HypCode::compare(std::uint32_t a, std::uint32_t b, bool carry) {
    const std::uint64_t sum = std::uint64_t{a} + b + (carry ? 1 : 0);
    const auto result = static_cast<std::uint32_t>(sum);
    n_ = (result >> 31) != 0;
    z_ = result == 0;
    c_ = sum >> 32 != 0;
    v_ = ((~(a ^ b) & (a ^ result)) >> 31) != 0;
}

/// This CPU's own state, which no other one reads; everything else is shared.
bool HypCode::own(std::uint32_t address) const {
    const auto begin = sim_.ram.address_of(&cpu_).value;
    return address >= begin && address < begin + sizeof(Cpu);
}

std::uint64_t HypCode::load(std::uint32_t address, unsigned log2_size) {
    const unsigned size = 1u << log2_size;
    if (!sim_.ram.contains(address, size)) {
        const Answer answer = try_device_read({address}, log2_size);
        if (answer.hsr != 0) abort(answer.hsr);
        return answer.value;
    }
    const std::byte* from = sim_.ram.at({address});
    if (!own(address)) return sim_.load_word(from, size);
    std::uint64_t value = 0;
    std::memcpy(&value, from, size);
    return value;
}

void HypCode::store(std::uint32_t address, unsigned log2_size, std::uint64_t value) {
    const unsigned size = 1u << log2_size;
    if (!sim_.ram.contains(address, size)) {
        const Answer answer =
            try_device_write({address}, log2_size, static_cast<std::uint32_t>(value));
        if (answer.hsr != 0) abort(answer.hsr);
        return;
    }
    std::byte* to = sim_.ram.at({address});
    if (own(address)) std::memcpy(to, &value, size);
    else sim_.store_word(to, value, size);
}

/// Like entry/vectors.S.
void HypCode::abort(std::uint32_t hsr) {
    core_.system.set<reg::HSR>(hsr);
    next_ = hyp_symbol("mmioscope_fast_aborted");
}

void HypCode::call(std::uint32_t target) {
    Frame& frame = cpu_.fast.frame;
    if (r_[0] != sim_.ram.address_of(&cpu_).value || r_[sp] != cpu_.fast.stack)
        throw Failure{"C++ is called for another CPU, or without a stack"};
    if (r_[1] != sim_.ram.address_of(&frame).value)
        throw Failure{"C++ is called with another frame"};
    if (target == hyp_symbol("mmioscope_guest_trap")) {
        ++sim_.slow_traps;
        mmioscope_guest_trap(cpu_, frame);
    } else if (target == hyp_symbol("mmioscope_access_aborted")) {
        mmioscope_access_aborted(cpu_, frame);
    } else if (target == hyp_symbol("mmioscope_look_ahead")) {
        ++sim_.looks;
        mmioscope_look_ahead(cpu_);
    } else {
        throw Failure{"a call of C++ that is not known"};
    }
    for (const unsigned n : {0u, 1u, 2u, 3u, 12u, lr}) r_[n] = 0xdead'0000 + n; // the ABI's scratch
}

void HypCode::unconditional(std::uint32_t word) {
    if (word == 0xf57f'f01f) { // CLREX
        reserved_ = 0;
        core_.monitor = false;
        return;
    }
    switch (word) {
    case 0xf57f'f04f: return sim_.complete_system();     // DSB SY
    case 0xf57f'f04b: return sim_.complete_all();        // DSB ISH
    case 0xf57f'f047: return sim_.complete_local();      // DSB NSH
    case 0xf57f'f05b: return sim_.order_memory();        // DMB ISH
    case 0xf57f'f06f: return sim_.synchronize_context(); // ISB
    default: unknown(word);
    }
}

void HypCode::data_processing(std::uint32_t word) {
    const bool immediate = bit_of(word, 25);
    const bool flags = bit_of(word, 20);
    const unsigned to = bits(word, 15, 12);
    const std::uint32_t first = get(bits(word, 19, 16));
    std::uint32_t second = 0;
    if (immediate) {
        second = std::rotr(bits(word, 7, 0), static_cast<int>(2 * bits(word, 11, 8)));
    } else {
        const unsigned amount = bits(word, 11, 7);
        if (bit_of(word, 4) || bits(word, 6, 5) > 1) unknown(word);
        second = get(bits(word, 3, 0));
        if (bits(word, 6, 5) == 0) second <<= amount;
        else second = amount == 0 ? 0 : second >> amount;
    }
    const auto logical = [&](std::uint32_t result) {
        if (flags) n_ = (result >> 31) != 0, z_ = result == 0;
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

/// ELR_hyp, SPSR, or a register of another mode's (B9.2.3).
std::uint32_t& HypCode::special(std::uint32_t word) {
    const bool banked = bit_of(word, 9);
    if (!banked) {
        if (!bit_of(word, 22)) unknown(word);
        return spsr_;
    }
    const unsigned mode = bits(word, 19, 16) | (bit_of(word, 8) ? 0x10 : 0);
    sim_.point();
    switch (mode) {
    case 0x12: return core_.bank(port::Banked::lr_svc);
    case 0x13: return core_.bank(port::Banked::sp_svc);
    case 0x05: return core_.bank(port::Banked::sp_usr);
    case 0x1e: return elr_;
    default: unknown(word);
    }
}

void HypCode::miscellaneous(std::uint32_t word) {
    if (word == 0xe160'006e) { // ERET
        returned_ = true;
        return;
    }
    if (bits(word, 7, 4) != 0) unknown(word);
    if (bit_of(word, 21)) special(word) = get(bits(word, 3, 0)); // MSR
    else set(bits(word, 15, 12), special(word));                 // MRS
}

void HypCode::media(std::uint32_t word) {
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
void HypCode::single(std::uint32_t word) {
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
void HypCode::extra(std::uint32_t word) {
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

/// LDM and STM without writeback, IA, IB and DB.
void HypCode::multiple(std::uint32_t word) {
    const std::uint32_t list = bits(word, 15, 0);
    const bool before = bit_of(word, 24);
    const bool up = bit_of(word, 23);
    if (bit_of(word, 22) || bit_of(word, 21) || (!before && !up)) unknown(word);
    std::uint32_t address = get(bits(word, 19, 16));
    if (!up) address -= 4 * static_cast<unsigned>(std::popcount(list));
    else if (before) address += 4;
    for (unsigned n = 0; n < 16; ++n) {
        if (!bit_of(list, n)) continue;
        if (bit_of(word, 20)) set(n, static_cast<std::uint32_t>(load(address, 2)));
        else store(address, 2, get(n));
        address += 4;
    }
}

void HypCode::coprocessor(std::uint32_t word) {
    const Encoding which = encode32(bits(word, 11, 8), bits(word, 23, 21), bits(word, 19, 16),
                                    bits(word, 3, 0), bits(word, 7, 5));
    const unsigned rt = bits(word, 15, 12);
    if (!bit_of(word, 20)) return sim_.write_register(which, get(rt));
    if (which == encoding_of<reg::HTPIDR>())
        return set(rt, static_cast<std::uint32_t>(sim_.ram.address_of(core_.this_cpu).value));
    set(rt, static_cast<std::uint32_t>(sim_.read_register(which)));
}

void HypCode::coprocessor_pair(std::uint32_t word) {
    const Encoding which = encode64(bits(word, 11, 8), bits(word, 7, 4), bits(word, 3, 0));
    const unsigned low = bits(word, 15, 12);
    const unsigned high = bits(word, 19, 16);
    if (!bit_of(word, 20))
        return sim_.write_register(which, get(low) | std::uint64_t{get(high)} << 32);
    const std::uint64_t value = sim_.read_register(which);
    set(low, static_cast<std::uint32_t>(value));
    set(high, static_cast<std::uint32_t>(value >> 32));
}

/// The pair is one event: the value that LDREX read is still there when STREX stores.
void HypCode::exclusive(std::uint32_t word) {
    const std::uint32_t address = get(bits(word, 19, 16));
    if (bit_of(word, 20)) {
        reserved_ = address;
        reserved_value_ = static_cast<std::uint32_t>(load(address, 2));
        core_.monitor = true;
        core_.monitor_address = hyp_word;
        return set(bits(word, 15, 12), reserved_value_);
    }
    auto* to = reinterpret_cast<std::uint32_t*>(sim_.ram.at({address}));
    const bool done =
        reserved_ == address && sim_.exchange(to, reserved_value_, get(bits(word, 3, 0)));
    reserved_ = 0;
    set(bits(word, 15, 12), done ? 0 : 1);
}

void HypCode::execute(std::uint32_t word) {
    if (word >> 28 == 15) return unconditional(word);
    if (!condition_holds(word >> 28, n_, z_, c_, v_)) return;
    switch (bits(word, 27, 25)) {
    case 0:
        if ((word & 0x0f80'0ff0) == 0x0180'0f90) return exclusive(word);
        if (bit_of(word, 7) && bit_of(word, 4)) return extra(word);
        if ((word & 0x0190'0000) == 0x0100'0000) return miscellaneous(word);
        return data_processing(word);
    case 1: return data_processing(word);
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

void HypCode::run(Frame& frame) {
    std::memcpy(r_, frame.r, sizeof frame.r);
    r_[sp] = static_cast<std::uint32_t>(sim_.ram.address_of(&cpu_.fast.frame).value);
    r_[lr] = frame.lr_usr;
    elr_ = frame.pc;
    spsr_ = frame.psr;
    at_ = hyp_symbol("guest_trap");
    const std::uint64_t slow_traps = sim_.slow_traps;
    while (!returned_) {
        const std::uint32_t offset = at_ - fast_path_base;
        if (offset / 4 >= std::size(fast_path_words)) throw Failure{"Hyp runs outside of its code"};
        next_ = at_ + 4;
        if (offset != left_out) execute(fast_path_words[offset / 4]);
        at_ = next_;
    }
    if (sim_.slow_traps == slow_traps && r_[lr] != frame.lr_usr)
        throw Failure{"the fast path loses the guest's LR"};
    const bool step = in_step(cpu_);
    const bool tde = (core_.system.read(encoding_of<reg::HDCR>()) & arch::hdcr_tde) != 0;
    if (tde != (step && cpu_.debug.usable()) ||
        (core_.system.read(encoding_of<reg::HSTR>()) != 0) != step)
        throw Failure{"the traps of a step outlive it, or are not set"};
    std::memcpy(frame.r, r_, sizeof frame.r);
    frame.lr_usr = r_[lr];
    frame.pc = elr_;
    frame.psr = spsr_;
}

} // namespace

std::uint32_t hyp_symbol(const char* name) {
    for (const Symbol& symbol : fast_path_symbols)
        if (std::strcmp(symbol.name, name) == 0) return symbol.value;
    throw Failure{std::string("no symbol of the fast path: ") + name};
}

void load_hyp_code(Simulation& simulation) {
    std::memcpy(simulation.ram.at({fast_path_base}), fast_path_words, sizeof fast_path_words);
}

void run_hyp_code(Simulation& simulation, Core& core, Cpu& cpu, Frame& frame) {
    HypCode(simulation, core, cpu).run(frame);
}

} // namespace mmioscope::sim
