#include "machine/power.hpp"

#include "port/shared.hpp"
#include "port/wait.hpp"

#include <span>

namespace mmioscope {

void Power::note(const BoardEvent& event, std::uint32_t value) {
    const bool set = event.kind == BoardEvent::Kind::start_address_set;
    if (!set && event.kind != BoardEvent::Kind::start_address_clear) return;
    const std::span all(start_address_);
    const auto addresses = event.cpu == BoardEvent::every_cpu ? all : all.subspan(event.cpu, 1);
    // The guest wakes the sleeping CPU by an interrupt or an event after a DSB, so release order is
    // enough.
    std::atomic_thread_fence(std::memory_order_release);
    if (set)
        for (auto& address : addresses) address.fetch_or(value, std::memory_order_relaxed);
    else
        for (auto& address : addresses) address.fetch_and(~value, std::memory_order_relaxed);
}

std::uint32_t Power::wait_for_start(unsigned number, bool by_event) const {
    for (;;) {
        const auto address = start_address_[number].load(std::memory_order_acquire);
        if (address != 0) return address;
        by_event ? port::wait_for_event() : port::wait_for_interrupt();
    }
}

// The exchange makes one of several callers the only writer of the start point. The caller calls
// firmware after that, and only then the CPU runs that reads it.
CpuPower Power::prepare(unsigned number, CpuPower from, StartPoint at) {
    CpuPower was = from;
    if (state_[number].compare_exchange_strong(was, CpuPower::pending, std::memory_order_acq_rel))
        start_[number] = at;
    else port::clear_exclusive();
    return was;
}

void Power::set(unsigned number, CpuPower state) {
    state_[number].store(state, std::memory_order_release);
}

StartPoint Power::arrive(unsigned number) {
    const StartPoint at = start_[number];
    set(number, CpuPower::on);
    return at;
}

} // namespace mmioscope
