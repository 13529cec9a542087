// The state of one simulated CPU: the guest's registers, the system registers, the TLB, and
// unfinished operations.
#pragma once

#include "arch/psr.hpp"
#include "bus.hpp"
#include "entry/frame.hpp"
#include "port/banked.hpp"
#include "registers.hpp"
#include "tlb.hpp"

#include <array>
#include <deque>
#include <map>

namespace mmioscope::sim {

/// Whether an instruction with this condition, 0 to 14, is executed with these flags (ARM ARM
/// A8.3).
inline bool condition_holds(unsigned condition, bool n, bool z, bool c, bool v) {
    bool holds = true;
    switch (condition >> 1) {
    case 0: holds = z; break;
    case 1: holds = c; break;
    case 2: holds = n; break;
    case 3: holds = v; break;
    case 4: holds = c && !z; break;
    case 5: holds = n == v; break;
    case 6: holds = n == v && !z; break;
    default: return true;
    }
    return (condition & 1) != 0 ? !holds : holds;
}

struct Core {
    explicit Core(const WalkedMemory& memory) : tlb(memory) {}

    unsigned number{};
    Registers system;
    std::array<std::uint32_t, 21> banked{}; ///< by port::Banked
    Frame frame{};                          ///< the guest's r0 to r12, LR_usr, PC and CPSR, live
    std::array<std::uint64_t, 32> vector{}; ///< D0 to D31
    unsigned vector_registers{32};          ///< 16 or 32
    std::uint32_t fpexc{1u << 30};          ///< enabled
    bool monitor{};                         ///< exclusive; set for
    std::uint32_t monitor_address{};
    bool stores_exclusive{}; ///< what it stores to memory now depends on the monitor
    bool irq_pending{};
    bool fiq_pending{};
    bool abort_pending{}; ///< an asynchronous external abort
    void* this_cpu{};     ///< HTPIDR: a host pointer does not fit the register

    Tlb tlb;
    const void* half_stored{};            ///< of a descriptor, since the last barrier
    std::vector<Invalidation> own_tlbi;   ///< issued; certainly done at the next DSB
    std::vector<Invalidation> broadcasts; ///< likewise, on all CPUs
    bool broadcast_by_hyp{};              ///< likewise, of everything
    std::uint32_t broadcast_to{};         ///< CPUs that it has not reached
    bool icache_unknown{true};            ///< until ICIALLU is done
    bool icache_invalidated{};            ///< issued
    bool predictors_invalidated{};        ///< likewise
    std::uint32_t icaches_to{};           ///< likewise, on all CPUs: those that it has not reached
    std::deque<BusAccess> posted;         ///< writes on their way to a device, in program order
    std::uint64_t synchronized{};         ///< CNTPCT at the last context synchronization
    bool counter_read{};                  ///< since then

    /// What was fetched, some of it ahead, until ICIALLU is done. By virtual address it may be that
    /// of predictors only, until BPIALL: they are as bad as a cache here.
    struct Fetched {
        std::uint16_t halfword;
        bool hyps; ///< of Hyp's memory
    };
    std::map<std::uint32_t, Fetched> icache;
    std::map<std::uint64_t, std::uint16_t> lines; ///< by physical address

    unsigned left_coherency{}; ///< times
    bool missed_maintenance{}; ///< while it was out: its TLB may have stale entries

    unsigned executed_on_shadow{}; ///< instructions since VTTBR was last written
    bool pair_on_shadow{};         ///< the first of them was a load-exclusive
    bool ended{};                  ///< the guest's program has ended

    std::uint32_t& bank(port::Banked which) { return banked[static_cast<unsigned>(which)]; }
    /// ACTLR.SMP: whether it takes part in coherency, exclusives and broadcast maintenance.
    bool coherent() const { return (system.get<reg::ACTLR>() & 0x40) != 0; }
    std::uint64_t vttbr() const { return system.get<reg::VTTBR>(); }
    std::uint64_t root() const { return vttbr() & 0xff'ffff'f000; }
    Regime regime() const {
        return {vttbr(), (system.get<reg::SCTLR>() & 1) != 0,
                static_cast<std::uint32_t>(system.get(encode32(15, 0, 2, 0, 0))),
                static_cast<std::uint8_t>(system.get(encode32(15, 0, 13, 0, 1)))};
    }
    arch::Mode mode() const { return arch::mode_of(frame.psr); }
    bool thumb() const { return (frame.psr & arch::psr_thumb) != 0; }
};

} // namespace mmioscope::sim
