// The simulated machine: CPUs, memory, devices, and a history of the hypervisor's changes to the
// translation tables. include/port/ calls it where the real hyp/core/port/ executes instructions.
#pragma once

#include "bus.hpp"
#include "core.hpp"
#include "port.hpp"
#include "scheduler.hpp"
#include "weak_memory.hpp"

#include <set>

namespace mmioscope {
struct Machine;
}

namespace mmioscope::sim {

/// VTTBR is UNKNOWN at reset: here it has the hypervisor's own VMID, and points to `unknown_table`
/// in memory, which may have any content.
inline constexpr std::uint64_t unknown_table = 0x8040'0000;
inline constexpr std::uint64_t vttbr_at_reset = std::uint64_t{1} << 48 | unknown_table;

/// The exclusive monitor's address after a load-exclusive of Hyp's own: not a device's address.
inline constexpr std::uint32_t hyp_word = 0x8200'0000;

/// Choices of the hardware, made by the seed or by a test.
struct Conditions {
    std::uint64_t seed{1};
    unsigned cpus{1};
    unsigned switch_one_in{3}; ///< points at which the CPU changes
    std::uint64_t step_limit{10'000'000};
    unsigned steps_per_tick{1};   ///< of CNTPCT
    unsigned stopped_one_in{0};   ///< points at which the host stops all CPUs; 0: none
    unsigned ticks_of_stop{0};    ///< how long
    unsigned interrupt_one_in{0}; ///< guest instructions before each interrupt; 0: none
    bool prefetch_abort_first{};  ///< order for a breakpoint on an unmapped page
    std::uint32_t dbgen_low{};    ///< CPUs, a bit each, whose DBGDSCR.MDBGen does not stick
    std::uint32_t
        no_debug_events{};        ///< whose breakpoints and watchpoints never fire, though it does
    bool hvc_undefined{};         ///< of PL1's: SCR.HCE is clear
    bool mistakes_thumb_stores{}; ///< Cortex-A15 r0p4: HSR.SRT of a Thumb store is another register
    bool monitor_asked_first{};   ///< by a store-exclusive, before its address is translated
    bool exceptions_clear_monitor{};     ///< to Hyp, and the guest's own
    bool keeps_old_code{};               ///< a fetch may find what a cache has read ahead
    bool code_cached_by_pa{};            ///< only what predictors know goes by virtual address
    unsigned code_dropped_one_in{};      ///< fetches before which the cache makes room; 0: none
    bool smp_is_guests{};                ///< NSACR.NS_SMP, by firmware: ACTLR.SMP may be written
    bool old_payload{};                  ///< loads of structures may be old, too, which takes time
    unsigned late_one_in{4};             ///< points at which something begun completes by itself
    unsigned exclusives_fail_one_in{16}; ///< of Hyp's pairs, though nothing disturbs them; 0: none
};

/// Faults built into the simulation, to show that its checks can fail.
struct Defects {
    bool tlb_maintenance_ignored{};
    bool context_synchronization_ignored{};
    bool interrupt_masks_ignored{};
    std::function<void()> while_waiting; ///< called in each turn of a waiting loop
};

struct TableWrite {
    std::uint64_t entry; ///< its address
    std::uint64_t value;
};

struct ViewChange {
    unsigned cpu;
    std::uint64_t vttbr;
};

/// The guest's completed TLB maintenance: what was read before it must not be used again.
struct Retired {
    std::uint64_t all{};
    std::map<std::uint32_t, std::uint64_t> page;
    std::map<unsigned, std::uint64_t> asid;

    void add(const Invalidation& what);
    bool covers(const Route& route, std::uint32_t va) const;
};

class Simulation {
public:
    explicit Simulation(const Conditions& conditions);
    ~Simulation();

    /// The existing one; null if there is none.
    static Simulation* current();

    Conditions conditions;
    Defects defects;
    Ram ram;
    TableStores tables;
    Bus bus;
    std::vector<Core> cores;
    std::vector<TableWrite> table_writes;
    std::vector<ViewChange> view_changes;
    std::vector<std::uint64_t> speculated; ///< pages whose translations may be cached at any time
    /// Words that the guest's cache has newer than memory, by address, until their line is cleaned:
    /// what memory has, where Hyp reads.
    std::map<std::uint64_t, std::uint32_t> stale_words;
    /// Words of the guest's memory that Hyp has stored, of which caches may have what was before.
    std::set<std::uint64_t> read_ahead;
    std::uint64_t interrupts_taken{};
    std::uint64_t slow_traps{};                                 ///< left to C++ by Hyp's assembly
    std::uint64_t looks{};                                      ///< of its, at readers and stream
    std::function<std::uint32_t(const FirmwareCall&)> firmware; ///< below Hyp; unset: none is there
    Machine* hypervisor{};  ///< to check the guest's view against; null if none runs
    unsigned may_run_on{1}; ///< instructions of a guest on a shadow table in one step, at most
    /// Called when the guest executes an instruction, after any interrupt before it.
    std::function<void(Core&)> meanwhile;
    /// Called when it reaches memory at that address, or fetches from there; true: to store.
    std::function<void(Core&, std::uint64_t, bool)> touched;
    Retired retired;
    Scheduler scheduler; ///< last, so that its tasks are unwound first
    WeakMemory memory;

    /// Hyp's memory as a fetch finds it: what was cleaned to memory, by address.
    std::map<std::uint64_t, std::uint16_t> cleaned;
    /// A fetch of the guest, through a cache that goes by virtual address, as ARMv7 allows: what it
    /// has of the guest's memory is found in place of Hyp's, and the reverse, until it is
    /// invalidated.
    std::uint16_t fetch(Core& core, std::uint32_t va, std::uint64_t address);

    /// The running CPU; CPU 0 outside of tasks.
    Core& core();
    std::uint64_t now() const;
    std::uint64_t ticks_stopped{}; ///< in which no CPU ran

    /// A point at which time passes, walks may happen, and another CPU may run.
    void point();
    std::uint64_t read_register(Encoding which);
    void write_register(Encoding which, std::uint64_t value);
    void synchronize_context();
    void complete_local();  ///< DSB NSH
    void complete_all();    ///< DSB ISH
    void publish_tables();  ///< DSB ISHST
    void complete_system(); ///< DSB SY
    void order_memory();    ///< DMB ISH
    void store_word(void* to, std::uint64_t value, unsigned size);
    /// STRD: one store, as of the architecture, or two.
    void store_pair(void* to, std::uint64_t value);
    std::uint64_t load_word(const void* from, unsigned size);
    void store_payload(void* to, const void* from, std::size_t size);
    void load_payload(void* to, const void* from, std::size_t size);
    bool exchange(std::uint32_t* word, std::uint32_t expected, std::uint32_t desired);
    /// A device access; a write arrives later, in program order.
    std::uint64_t device_access(const BusAccess& access);
    std::uint64_t memory_access(const BusAccess& access);
    void store_descriptor(std::uint64_t* entry, std::uint64_t value);
    /// The same without a point before it: part of an atomic operation.
    void set_descriptor(std::uint64_t* entry, std::uint64_t value);
    /// One of its two words, which a walk may find alone.
    void store_half(std::uint64_t& entry, bool upper, std::uint64_t value);
    /// Leaves the coherency domain, sleeps, and returns.
    void wait_outside_coherency();
    /// Fails unless Hyp's own table, if it is on, maps `address` as memory or as a device.
    void check_hyp_mapping(PhysicalAddress address, bool device);

    /// Tables and TLBs as a boot loader may leave them: everything is mapped.
    void leave_everything_mapped();
    /// Exception entry and return: a context synchronization.
    void synchronize(Core& core);
    /// TLB maintenance by the guest, for all CPUs.
    void broadcast(Core& core, Invalidation what);
    /// The guest's DSB.
    void complete_broadcasts(Core& core);

    /// What Hyp's own table has for `address`, and its memory type, as in HMAIR0.
    Translation hyp_leaf(std::uint64_t address);
    std::uint64_t hyp_memory_type(const Translation& leaf);

private:
    void read_ahead_in_hyp();
    bool in_task() const { return scheduler.current() < cores.size(); }
    void do_something_late(Core& core);
    void speculate(Core& core);
    void translate_address(Core& core, std::uint64_t va);
    std::uint64_t read_counter(Core& core);
    void invalidate(Core& core, Invalidation::What what);
    void perform_own_tlbi(Core& core);
    void deliver_broadcast(Core& core, std::uint32_t to);
    void forget_code(Core& core, std::uint32_t of);
    void perform(Core& core, const Invalidation& what);
    void arrive(Core& core);
    void check_coherency();
    void check_change(const std::uint64_t* entry, std::uint64_t address, std::uint64_t value);
    bool debug_locked(const Core& core) const;

    Random ahead_;
    /// A descriptor that has become invalid while the guest runs, until all CPUs have forgotten it.
    struct Broken {
        std::uint64_t before;
        unsigned writer;
        bool seen{};           ///< by all table walks
        unsigned told_by{~0u}; ///< the CPU that has told all others since
        bool own_seen{}, own_told{}; ///< likewise of the writer alone
    };
    void forget_own(Core& self);
    bool is_own(const Core& self, std::uint64_t table);
    std::map<std::uint64_t, Broken> broken_; ///< by address
};

} // namespace mmioscope::sim
