// What the CPUs share. CPU 0 fills it in before any CPU enters the guest. After that only these
// change: what a service changes with `changes` held, the locks, the power state and the stop flag,
// which synchronize themselves.
#pragma once

#include "arch/clusters.hpp"
#include "board/board.hpp"
#include "machine/config.hpp"
#include "machine/cpu.hpp"
#include "machine/power.hpp"
#include "mm/memory_map.hpp"
#include "mm/page_index.hpp"
#include "mm/stage1.hpp"
#include "trace/chooser.hpp"

#include <span>

namespace mmioscope {

class CallOps;
class DeviceOps;
class OwnerOps;
class Service;

/// HVC with that immediate, or SMC, whose immediate HSR does not have (B3.13.6): then it is 0.
struct CallEntry {
    psci::Conduit by;
    std::uint16_t immediate;
    CallOps* ops;
};

/// The state in which the boot loader starts CPU 0.
struct EntryState {
    std::uint32_t psr;     ///< CPSR
    std::uint32_t control; ///< HSCTLR in Hyp, otherwise SCTLR
};

/// What the views have of the guest's memory.
enum class MemoryOf : std::uint8_t {
    the_start, ///< it stays so
    all_cpus,  ///< may change, for all CPUs alike (changing/live_tables.hpp)
    each_cpu,  ///< may change, for each CPU in its own way
};

struct Machine {
    std::atomic<Service*> first{};         ///< sees each trap first; null: nobody
    std::atomic<std::uint32_t> stopped{0}; ///< a CPU panicked
    std::atomic<std::uint32_t> ending{0};  ///< CPUs that end the machine: no other access begins

    // Constant while the guest runs, up to `locks`. What each trap asks comes first.
    Config config;
    Board board;
    DeviceOps* devices{}; ///< who makes all accesses to devices; null before the start
    // Each is null if no service is interested (engine/service.hpp).
    Service* worker{};
    Chooser* chooser{};
    FixedVector<CallEntry, 4> calls; ///< any other one is undefined
    RegionTable regions;
    RegionMap map;
    MemoryMap guest_memory; ///< the device tree's memory without the hypervisor's
    MemoryMap no_map;       ///< what Hyp must not map as memory (dt/regions.hpp)
    ImageLayout image;
    EntryState entry{};
    bool breakpoints{true}; ///< CPU 0 has them; else each CPU steps on a page of its own
    Range control_page;     ///< the guest is told of it, and a service answers there; empty: none
    Range own_memory; ///< the hypervisor's memory, from its first byte to the end of the trace area
    arch::Clusters clusters{};
    unsigned cpu_count{};
    std::uint32_t counter_frequency{}; ///< Hz; CPU 0's, if the image is entered in Secure state

    TranslationTable hyp_table;
    /// All of them: each CPU's normal one, which may be that of CPU 0, and behind it that of its
    /// steps; behind all, if a service wants it, one with the memory as it lies.
    View views[2 * abi::max_cpus + 1];
    bool has_original{};
    MemoryOf memory{}; ///< a service asks for more in Service::configure()
    PageIndex pages;
    /// Indexed by HSR's bits 23:16, loads before stores (entry/fast_path.S); [0] for PL1, [1] for
    /// User mode.
    std::uint32_t fast_dispatch[2][512]{};

    abi::AreaHeader* area{};
    std::span<Service* const> services;

    RegionLocks locks;
    std::uint32_t has_fast_regions{}; ///< the fast path may take some of the locks; only a hint
    TablePool pool{nullptr, 0};
    Lock changes; ///< held to change or check what is sealed; last in the lock order of these
    Power power;
    std::atomic<std::uint32_t> broadcast_fails{0}; ///< on some CPU; see arch/errata.hpp

    Cpu cpus[abi::max_cpus];

    View& normal(unsigned cpu) { return views[2 * cpu]; }
    View& shadow(unsigned cpu) { return views[2 * cpu + 1]; }
    /// Has all memory at its own place, whatever the others have there, for steps of one
    /// instruction on any CPU; of devices what the normal view of CPU 0 has.
    View& original() { return views[2 * cpu_count]; }
    std::span<View> all_views() { return {views, 2 * cpu_count + (has_original ? 1 : 0)}; }

    /// The page's accesses that trap are for `ops`, whatever is there. Before the guest runs. False:
    /// no room.
    [[nodiscard]] bool give_page(std::uint64_t page, OwnerOps& ops) {
        const Owner* const owner = locks.take_page_owner({page, page + page_size}, ops);
        return owner != nullptr &&
               pages.give(static_cast<std::uint32_t>(page), owner, pool,
                          [](std::uint32_t& word, std::uint32_t value) { word = value; });
    }
    /// The span that contains `pa`, of a region or of an owner; null: neither. The index has most
    /// pages, of spans that are not before their region's first one. For others, and above 4 GiB,
    /// the map is searched, unless the span is the `last` one.
    const Span* span_at(PhysicalAddress pa, const Span* last = nullptr) const {
        const Owner* const owner =
            pa.value < lpae::input_end ? pages.find(static_cast<std::uint32_t>(pa.value)) : nullptr;
        if (owner != nullptr && pa.value < owner->span->range.end) return owner->span;
        return last != nullptr && last->range.contains(pa.value) ? last : map.find(pa);
    }
    /// From now on no CPU's fast path begins an access. Any CPU may call it, without a lock.
    void close_fast_paths() {
        for (Cpu& cpu : cpus) port::store_shared(cpu.fast.pages, pages.closed());
    }
};

} // namespace mmioscope
