#include "hyp_code.hpp"

#include "arch/control.hpp"
#include "arm_code.hpp"
#include "machine/machine.hpp"
#include "simulation.hpp"
#include "trap/dispatch.hpp"
#include "trap/fast_path.hpp"

#include <cstring>

namespace mmioscope::sim {

namespace {

// `fast_path_base`, `fast_path_words` and `fast_path_symbols`, generated from the linked file.
#include "fast_path.inc"

const LinkedCode fast_path{fast_path_base, fast_path_words, fast_path_symbols};

class HypCode : ArmCode {
public:
    HypCode(Simulation& simulation, Core& core, Cpu& cpu)
        : ArmCode(fast_path), sim_(simulation), core_(core), cpu_(cpu) {}

    void run(Frame& frame);

private:
    void barrier(std::uint32_t word) override;
    void miscellaneous(std::uint32_t word) override;
    void coprocessor(std::uint32_t word) override;
    void coprocessor_pair(std::uint32_t word) override;
    void exclusive(std::uint32_t word) override;
    void call(std::uint32_t target) override;
    std::uint64_t load(std::uint32_t address, unsigned log2_size) override;
    void store(std::uint32_t address, unsigned log2_size, std::uint64_t value) override;

    std::uint32_t& special(std::uint32_t word);
    bool own(std::uint32_t address) const;
    void abort(std::uint32_t hsr);

    Simulation& sim_;
    Core& core_;
    Cpu& cpu_;
    std::uint32_t elr_{};
    std::uint32_t spsr_{};
    bool returned_{};
    std::uint32_t reserved_{}; ///< address of the last LDREX; 0: none
    std::uint32_t reserved_value_{};
};

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
    else if (size == 8) sim_.store_pair(to, value);
    else sim_.store_word(to, value, size);
}

/// Like entry/vectors.S.
void HypCode::abort(std::uint32_t hsr) {
    core_.system.set<reg::HSR>(hsr);
    next_ = hyp_symbol("mmioscope_fast_aborted");
}

/// BL: to C++, unless it is to a place in the assembly.
void HypCode::call(std::uint32_t target) {
    if (target >= hyp_symbol("guest_trap") && target < hyp_symbol("mmioscope_fast_end")) {
        r_[lr] = at_ + 4;
        next_ = target;
        return;
    }
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
    } else if (target == hyp_symbol("mmioscope_reserve")) {
        ++sim_.looks;
        mmioscope_reserve(cpu_);
    } else {
        throw Failure{"a call of C++ that is not known"};
    }
    for (const unsigned n : {0u, 1u, 2u, 3u, 12u, lr}) r_[n] = 0xdead'0000 + n; // the ABI's scratch
}

void HypCode::barrier(std::uint32_t word) {
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

void HypCode::run(Frame& frame) {
    std::memcpy(r_, frame.r, sizeof frame.r);
    r_[sp] = static_cast<std::uint32_t>(sim_.ram.address_of(&cpu_.fast.frame).value);
    r_[lr] = frame.lr_usr;
    elr_ = frame.pc;
    spsr_ = frame.psr;
    at_ = hyp_symbol("guest_trap");
    const std::uint64_t slow_traps = sim_.slow_traps;
    while (!returned_) step();
    if (sim_.slow_traps == slow_traps && r_[lr] != frame.lr_usr)
        throw Failure{"the fast path loses the guest's LR"};
    const bool tde = (core_.system.read(encoding_of<reg::HDCR>()) & arch::hdcr_tde) != 0;
    const std::uint64_t hstr = core_.system.read(encoding_of<reg::HSTR>());
    constexpr std::uint32_t all_but_c7 = arch::hstr_cp15 & ~(1u << 7);
    if (tde != cpu_.debug.is_hyps() ||
        (in_step(cpu_) ? (hstr & all_but_c7) != all_but_c7 : hstr != cpu_.debug.hstr()))
        throw Failure{"the traps of a step outlive it, or are not set"};
    std::memcpy(frame.r, r_, sizeof frame.r);
    frame.lr_usr = r_[lr];
    frame.pc = elr_;
    frame.psr = spsr_;
}

} // namespace

std::uint32_t hyp_symbol(const char* name) {
    return fast_path.symbol(name);
}

void load_hyp_code(Simulation& simulation) {
    std::memcpy(simulation.ram.at({fast_path_base}), fast_path_words, sizeof fast_path_words);
}

void run_hyp_code(Simulation& simulation, Core& core, Cpu& cpu, Frame& frame) {
    HypCode(simulation, core, cpu).run(frame);
}

} // namespace mmioscope::sim
