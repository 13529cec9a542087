#include "engine/engine.hpp"

#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"

namespace mmioscope {

namespace {

/// Seconds. An access takes microseconds, but an emulator's host may suspend a CPU in the middle of
/// it, and takes some time to end its machine.
constexpr unsigned longest_access = 2;
constexpr unsigned longest_end = 1;

std::uint64_t ticks(unsigned seconds) {
    return std::uint64_t{seconds} * port::read<reg::CNTFRQ>();
}

/// Without the ISB the counter could be read early (ARM ARM B8.1.2).
std::uint64_t now() {
    port::synchronize_context();
    return port::read<reg::CNTPCT>();
}

} // namespace

// The locks are not taken in their order, if this CPU holds some already. Nobody waits for a lock
// without end: who holds one that is missing here, and waits for one that is held here, gives up
// and gives it back. Without `ending`, CPUs that make accesses without pause could keep a lock from
// this one. If the machine goes on after all, the fast path stays closed.
void stop_accesses(Cpu& cpu) {
    Machine& machine = *cpu.machine;
    const std::size_t regions = machine.regions.size();
    machine.ending.fetch_add(1, std::memory_order_relaxed);
    machine.close_fast_paths();
    const std::uint64_t began = now();
    do {
        if (cpu.locks.acquire_others(machine.locks, regions, cpu.number,
                                     cpu.ring.statistics().lock_spins))
            return;
    } while (now() - began < ticks(longest_access));
    cpu.locks.release_others();
}

void allow_accesses(Cpu& cpu) {
    cpu.locks.release_others();
    cpu.machine->ending.fetch_sub(1, std::memory_order_relaxed);
}

void wait_for_end(Cpu& cpu) {
    const std::uint64_t began = now();
    const bool alone = cpu.machine->cpu_count == 1 || !cpu.locks.holds_others();
    while (!alone && now() - began < ticks(longest_end)) port::relax();
    allow_accesses(cpu);
}

} // namespace mmioscope
