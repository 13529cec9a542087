#include "watching/exclusive_pair.hpp"

#include "arch/forms.hpp"
#include "engine/record.hpp"
#include "machine/machine.hpp"
#include "machine/stepping.hpp"
#include "port/banked.hpp"
#include "trap/translate.hpp"

#include <bit>
#include <utility>

namespace mmioscope {

namespace {

constexpr unsigned words = 4; ///< in which the store must be

enum Opcode : unsigned { sub = 2, add = 4 }; ///< of data-processing (table A5-3)

/// Whether it is data-processing (A5.2) that changes no register of `kept`.
bool is_calculation(std::uint32_t word, unsigned kept) {
    const bool other = !arch::is_set(word, 25) && arch::is_set(word, 7) && arch::is_set(word, 4);
    const bool compares = arch::field(word, 24, 23) == 2; // or it is another one
    return word >> 28 != 0xf && arch::field(word, 27, 26) == 0 && !other &&
           (compares ? arch::is_set(word, 20) && arch::rt(word) == 0
                     : !arch::is_set(kept, arch::rt(word)));
}

/// Whether it is ADD or SUB (A5.2.1, A5.2.3) of the register `reg`, into that, with an immediate or
/// another register as it is.
bool can_be_undone(std::uint32_t word, unsigned reg) {
    const unsigned opcode = arch::field(word, 24, 21), rm = arch::rm(word);
    return word >> 26 == arch::condition_always << 2 && arch::rn(word) == reg &&
           arch::rt(word) == reg && (opcode == sub || opcode == add) &&
           (arch::is_set(word, 25) ||
            (arch::field(word, 11, 4) == 0 && rm != reg && rm != arch::pc));
}

/// What its register had before it, which has `value` behind it.
std::uint32_t undo(const Frame& frame, std::uint32_t word, std::uint32_t value) {
    const std::uint32_t other = arch::is_set(word, 25)
                                    ? std::rotr(word & 0xff, static_cast<int>(word >> 7 & 0x1e))
                                    : guest_register(frame, arch::rm(word));
    return arch::field(word, 24, 21) == sub ? value + other : value - other;
}

/// Whether it is the store-exclusive of `load` (A5.2.10), and its status leaves `kept`.
bool is_store_of(std::uint32_t word, std::uint32_t load, unsigned kept) {
    constexpr std::uint32_t fixed = 0x0f90'0ff0, size_and_base = 0x006f'0000;
    const unsigned status = arch::rt(word), value = arch::rm(word);
    return word >> 28 != 0xf && (word & fixed) == 0x0180'0f90 &&
           ((word ^ load) & size_and_base) == 0 && value != arch::pc && value != status &&
           !arch::is_set(kept, status);
}

/// The instruction of the step that the guest has come to, and has not executed: at a vector
/// (table B1-3) LR leads there (B1.8.3).
std::uint32_t place_of(const Step& step, const Frame& frame) {
    const std::uint32_t vector = frame.pc - guest_vectors();
    const arch::Mode mode = arch::mode_of(frame.psr);
    if (mode == arch::mode_of(step.psr)) return frame.pc;
    if (mode == arch::Mode::und && vector == undefined_vector)
        return port::read_banked(port::Banked::lr_und) - 4;
    const bool aborted = mode == arch::Mode::abt;
    if (aborted && vector == prefetch_vector) return port::read_banked(port::Banked::lr_abt) - 4;
    if (aborted && vector == data_vector) return port::read_banked(port::Banked::lr_abt) - 8;
    return frame.pc;
}

/// The load's record, from the value in its register behind the word that is undone.
[[gnu::noinline]] void publish_undone(Cpu& cpu, Frame& frame) {
    const unsigned reg = cpu.trapped.access.reg;
    const std::uint32_t value = guest_register(frame, reg);
    set_guest_register(frame, reg, undo(frame, cpu.step.undone, value));
    publish_beats(cpu, frame);
    set_guest_register(frame, reg, value);
}

void publish_store(Cpu& cpu, const Frame& frame, std::uint32_t store) {
    const Beat& beat = cpu.trapped.beats[0];
    Owner& owner = cpu.locks[*beat.span->owner];
    owner.count_store(beat.pa);
    cpu.ring.count(&abi::Statistics::stepped);
    if (!beat.span->traced()) {
        ++cpu.ring.statistics().unselected;
        return;
    }
    abi::Record record = cpu.trapped.record;
    describe_context(record, frame, beat.va, beat.pa);
    record.pc = cpu.step.stop - 4;
    record.access = abi::encode_access(true, beat.log2_size);
    record.value = bus_value(frame, guest_register(frame, arch::rm(store)), beat.log2_size);
    record.lock_sequence = owner.next_sequence();
    cpu.ring.publish(record);
}

} // namespace

void ExclusivePair::prolong(Cpu& cpu, const Frame& frame) {
    const Trapped& trapped = cpu.trapped;
    const DeviceAccess& access = trapped.access;
    const std::uint32_t load = cpu.step.code.word, next = frame.pc + 4;
    if (!access.listed || access.beats != 1 || in_thumb(frame) || !cpu.debug.usable() ||
        !cpu.debug.is_hyps() || cpu.machine->config.pre || trapped.payload.size != 0 ||
        next % page_size + 4 * words > page_size || next % page_size == 0 ||
        translate_store(frame, access.va) != trapped.beats[0].pa)
        return;
    std::uint32_t code[words];
    const auto at = translate(frame, {next});
    if (!at || !read_guest_memory(*cpu.machine, *at, code)) return;
    unsigned kept = 1u << access.reg | 1u << arch::rn(load) | 1u << arch::pc;
    cpu.step.undone = 0;
    for (unsigned n = 0; n < words; ++n) {
        if (is_store_of(code[n], load, kept)) {
            cpu.step.code.word = code[n];
            cpu.step.stop = next + 4 * (n + 1);
            cpu.step.ops = this;
            return cpu.debug.arm(cpu.step.stop, false);
        }
        if (is_calculation(code[n], kept)) continue;
        if (n != 0 || !can_be_undone(code[0], access.reg)) return;
        cpu.step.undone = code[0];
        if (!arch::is_set(code[0], 25)) kept |= 1u << arch::rm(code[0]);
    }
}

bool ExclusivePair::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Trapped& trapped = cpu.trapped;
    abi::Record& record = trapped.record;
    const std::uint32_t all = cpu.step.stop - record.pc,
                        made = place_of(cpu.step, frame) - record.pc;
    cpu.step.ops = nullptr;
    if (made == 0 || made > all) { // not even the load, or nobody knows
        cpu.step.stop = record.pc + 4;
        return cpu.machine->devices->finish(cpu, frame, hsr);
    }
    const StepEnd end = leave_step(cpu, frame, hsr);
    record.duration = static_cast<std::uint32_t>(cpu.step.done - record.time);
    trapped.stuck = false;
    // The registers are those of the instructions, if an exception came behind them.
    const std::uint32_t psr = std::exchange(frame.psr, cpu.step.psr);
    const std::uint32_t store = cpu.step.code.word;
    const bool tried = made == all && arch::condition_passed(store >> 28, psr);
    const bool stored = tried && guest_register(frame, arch::rt(store)) == 0;
    if (made > 4 && cpu.step.undone != 0) publish_undone(cpu, frame);
    else publish_beats(cpu, frame);
    if (stored) publish_store(cpu, frame, store);
    cpu.ring.finish();
    if (stored) cpu.repeated_load.end();
    else reserve(cpu, frame);
    cpu.reservation.held = !tried;
    frame.psr = psr;
    give_locks_back(cpu, frame);
    if (end == StepEnd::planned) return true;
    ++cpu.ring.statistics().abnormal;
    return caused_trap(cpu, frame, hsr, end);
}

} // namespace mmioscope
