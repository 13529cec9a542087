#include "trap/stretch.hpp"

#include "arch/flow.hpp"
#include "arch/instruction.hpp"
#include "engine/engine.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "machine/stepping.hpp"
#include "port/sysreg.hpp"
#include "trap/decode.hpp"
#include "trap/dispatch.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

/// An instruction ahead of the guest.
struct Ahead {
    std::uint32_t pc;
    std::uint32_t word;
    arch::Flow flow;
    bool wide;
};

/// The first instruction that is not plain, from PC on.
std::optional<Ahead> scan_ahead(Cpu& cpu, const Frame& frame) {
    const bool thumb = in_thumb(frame);
    for (Frame at = frame; cpu.stretch.left != 0;) {
        --cpu.stretch.left;
        const auto word = fetch_instruction(at, *cpu.machine);
        if (!word) return std::nullopt;
        const bool wide = !thumb || arch::is_wide_thumb(static_cast<std::uint16_t>(*word >> 16));
        const arch::Flow flow = arch::flow_of(*word, thumb);
        if (flow.kind != arch::Flow::Kind::plain) return Ahead{at.pc, *word, flow, wide};
        at.pc += wide ? 4 : 2;
    }
    return std::nullopt;
}

/// Whether the guest comes to CLREX before a store-exclusive, whatever the conditions are.
bool comes_to_clrex(Cpu& cpu, const Frame& frame) {
    using Kind = arch::Flow::Kind;
    for (Frame at = frame; const auto ahead = scan_ahead(cpu, at);) {
        const arch::Flow& flow = ahead->flow;
        const bool conditional =
            flow.condition != arch::condition_always || flow.compared != arch::Flow::no_register;
        if (flow.kind == Kind::clear_exclusive) return true;
        if (flow.kind == Kind::store_exclusive || (flow.kind == Kind::branch && conditional))
            return false;
        const bool branches = flow.kind == Kind::branch;
        at.pc = ahead->pc + (branches      ? static_cast<std::uint32_t>(flow.offset)
                             : ahead->wide ? 4u
                                           : 2u);
    }
    return false;
}

/// Whether the instruction at PC is executed, or the branch there taken.
bool passes(const Frame& frame, const arch::Flow& flow) {
    const std::uint32_t it = arch::it_state(frame.psr);
    if (!arch::condition_passed(it != 0 ? it >> 4 : flow.condition, frame.psr)) return false;
    return flow.compared == arch::Flow::no_register ||
           (guest_register(frame, flow.compared) == 0) == flow.if_zero;
}

void take_branch(Frame& frame, const Ahead& branch) {
    const std::uint32_t target = frame.pc + static_cast<std::uint32_t>(branch.flow.offset);
    const bool taken = passes(frame, branch.flow);
    skip_instruction(frame, branch.wide);
    if (taken) frame.pc = target;
}

/// HSR as if the store-exclusive had trapped: a translation fault, described by nothing.
constexpr arch::Hsr store_trapped{0x24u << 26 | 1u << 25 | 1u << 6 | 0x07};

bool is_aligned(const arch::Instruction& instruction, VirtualAddress va) {
    const std::uint32_t bytes = std::uint32_t{instruction.beats} << instruction.log2_size;
    return bytes == 0 || va.value % bytes == 0;
}

/// If the store is not to the address of the load, or the guest may not write there, the guest
/// executes it itself: it fails, or faults. One of more bytes than the load, which may be
/// unaligned, would only fail where the CPU asks its monitor first, and has lost it in the load's
/// trap.
void reach_store(Cpu& cpu, Frame& frame, const Ahead& store) {
    if (!passes(frame, store.flow)) return skip_instruction(frame, store.wide);
    const arch::Instruction instruction = arch::decode(store.word, in_thumb(frame));
    const VirtualAddress va = first_address(frame, instruction.address);
    Reservation& loaded = cpu.reservation;
    if (va.value != loaded.va.value) return;
    if (!is_aligned(instruction, va)) return inject_alignment_fault(frame, va);
    if (translate_store(frame, va) != loaded.pa) return;
    loaded.certain = true; // here and now: not if the guest has to try again
    cpu.own_exclusives.guest_done();
    port::write<reg::HDFAR>(va.value);
    port::write<reg::HPFAR>(static_cast<std::uint32_t>(loaded.pa.value >> 12) << 4);
    if (data_abort(cpu, frame, store_trapped) == Outcome::done) skip_instruction(frame, store.wide);
    loaded.certain = false;
}

/// The guest is at an instruction that it has reached from the load-exclusive.
void go_on(Cpu& cpu, Frame& frame) {
    cpu.stretch.following = true;
    while (const auto ahead = scan_ahead(cpu, frame)) {
        if (ahead->pc != frame.pc) return begin_run(cpu, frame, ahead->pc);
        if (ahead->flow.kind == arch::Flow::Kind::store_exclusive) {
            reach_store(cpu, frame, *ahead);
            break;
        }
        if (ahead->flow.kind != arch::Flow::Kind::branch) break;
        take_branch(frame, *ahead);
    }
    cpu.stretch.following = false;
}

} // namespace

// While the guest has a breakpoint of its own on, it might lie in the stretch.
void follow_load_exclusive(Cpu& cpu, Frame& frame) {
    if (frame.pc != cpu.step.stop) return;
    cpu.stretch.left = Stretch::most;
    if (!cpu.debug.usable()) cpu.reservation.held &= !comes_to_clrex(cpu, frame);
    else if (cpu.debug.is_hyps()) go_on(cpu, frame);
}

// Hyp has made the access, or its step has ended. Otherwise the guest tries again, or takes an
// exception.
void keep_following(Cpu& cpu, Frame& frame, std::uint32_t pc) {
    const bool behind = frame.pc == cpu.step.stop || frame.pc == pc + 2 || frame.pc == pc + 4;
    const auto mode = static_cast<std::uint32_t>(arch::mode_of(frame.psr));
    if (behind && mode == cpu.reservation.context.mode) go_on(cpu, frame);
    else cpu.stretch.following = false;
}

bool StretchSteps::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const bool tried_order = cpu.stretch.tries_order;
    cpu.step.ops = nullptr;
    cpu.stretch.tries_order = false;
    const StepEnd end = leave_step(cpu, frame, hsr);
    const bool arrived = end == StepEnd::planned;
    const bool own_trap = caused_trap(cpu, frame, hsr, end);
    if (tried_order) note_order(cpu, arrived, hsr);
    else if (arrived) go_on(cpu, frame);
    else cpu.stretch.following = hsr.ec() == arch::ExceptionClass::data_abort && !own_trap;
    return own_trap;
}

} // namespace mmioscope
