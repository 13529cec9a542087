// Sets the words that entry/fast_path.S reads, and takes over what it has done.
#pragma once

#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"
#include "port/fast_code.hpp"

#include <utility>

// entry/fast_path.S calls these, and then returns to the guest or goes on.
extern "C" {
/// The bus answered an access of Hyp with an external abort. `frame` is saved.
void mmioscope_access_aborted(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
/// Before an access: reads the readers' positions if the reserved slots are used up; lets a service
/// work.
void mmioscope_reserve(mmioscope::Cpu& cpu);
}

namespace mmioscope {

/// Notes in each region's lock whether the fast path may make its accesses: whether each of them
/// becomes a record. Called after a change of that, with all locks held.
void choose_fast_regions(Machine& machine);

/// Fills in Machine::fast_dispatch for the machine's engine.
void build_fast_dispatch(Machine& machine);
/// Sets what stays constant while the guest runs. The fast path is closed until open_fast_path().
void prepare_fast_path(const Machine& machine, Cpu& cpu);
/// Prepares the fast path for accesses of `psr` (FastState::psr_plain), if it takes them.
void change_psr_plain(Cpu& cpu, std::uint32_t psr);
/// At the end of a trap: the guest's next access probably has the mode and instruction set of
/// `frame`, too.
inline void follow_psr(Cpu& cpu, const Frame& frame) {
    const std::uint32_t psr = frame.psr & (arch::psr_mode | arch::psr_thumb);
    if (psr != cpu.fast.psr_plain) change_psr_plain(cpu, psr);
}
/// After follow_psr(): opens the fast path for the next trap, unless something is on that it does
/// not handle. Never called if Cpu::always_slow, nor while a step is armed.
void open_fast_path(Cpu& cpu);
/// close_fast_path(), when the handler was that and is not any more.
void end_fast_path(Cpu& cpu, std::uint32_t handler);
/// When a slow trap begins: counts what the fast path has done. A step that it has begun becomes
/// `cpu.step`.
inline void close_fast_path(Cpu& cpu) {
    end_fast_path(cpu, std::exchange(cpu.fast.handler, port::fast_code(FastCode::slow)));
}

/// Whether close_fast_path() has something to do: the last trap has opened the fast path, or it has
/// begun a step.
inline bool fast_path_is_open(const Cpu& cpu) {
    return cpu.fast.handler != port::fast_code(FastCode::slow);
}
/// RingWriter::publish_event() between two accesses of the fast path, which stays open, or while it
/// is closed.
inline void publish_event(Cpu& cpu, abi::Record& record) {
    FastState& fast = cpu.fast;
    if (fast.handler == fast.reserve) mmioscope_reserve(cpu);
    if (fast.handler != fast.ready) return cpu.ring.publish_event(record);
    cpu.ring.publish_next(record, fast.slot, fast.sequence);
    if (cpu.ring.spent(fast.sequence)) fast.handler = fast.reserve;
}
/// Whether the guest is executing a step, of the slow or the fast path.
bool in_step(const Cpu& cpu);

} // namespace mmioscope
