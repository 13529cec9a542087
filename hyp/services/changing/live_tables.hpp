// Changes of the guest's tables while the guest runs, by break-before-make (ARM ARM B3.10.1): an
// entry that CPUs may use becomes invalid, all CPUs forget it, and only then it becomes what it
// shall be. Meanwhile a CPU that meets it traps, and tries again (trap/abort.cpp, check_table). No
// interrupt is needed. docs/tlb.md has the argument.
#pragma once

#include "base/boot_error.hpp"
#include "changing/page_locks.hpp"
#include "integrity/integrity.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// Takes the locks of all regions and Machine::changes, bounded: no access and no step is in
/// flight, and no page moves. False: they are not free, and none is held.
[[nodiscard]] bool begin_quiet(Cpu& cpu);
void end_quiet(Cpu& cpu);

/// Empties the TLBs of all CPUs by broadcast. When this returns, no CPU uses a translation that is
/// not in the tables, and accesses made with an older one are complete (ARM ARM B3.10.1).
void forget_translations();
/// And their instruction caches, where other code may lie now.
void forget_on_all_cpus();

/// Some of Machine::views, a bit each.
using ViewSet = std::uint32_t;
inline constexpr ViewSet normal_views = 0x5555'5555, shadow_views = ~normal_views;
inline constexpr ViewSet every_view = normal_views | shadow_views;
/// All but Machine::original().
inline ViewSet views_of_cpus(const Machine& machine) {
    return (1u << 2 * machine.cpu_count) - 1;
}

/// Between begin_quiet() and end_quiet().
class LiveTables {
public:
    LiveTables(Machine& machine, Integrity& integrity) : machine_(machine), integrity_(integrity) {}

    /// Why map() can change nothing on this machine, or cannot have `tables` tables; nothing: it
    /// can. For Service::start().
    static BootError objection(const Machine& machine, unsigned tables);

    /// Changes what `views` have at a page of memory to `leaf`, or to nothing (0); splits blocks,
    /// and tables that other views use, too. Views that change together keep their tables in
    /// common: then it is one store. False, and nothing has changed: no memory is there,
    /// or what objection() says.
    [[nodiscard]] bool map(ViewSet views, std::uint64_t page, lpae::Descriptor leaf);
    /// Makes blocks again of what map() has split around `page`, where all pages are alike, unless
    /// CPUs have memory in their own ways.
    void join(std::uint64_t page);

private:
    /// Entries of several views for one address, each once.
    using Entries = FixedVector<lpae::Descriptor*, 2 * abi::max_cpus + 1>;

    Entries entries(ViewSet views, std::uint64_t address, unsigned level) const;
    static Entries alike(const Entries& entries, lpae::Descriptor value);
    void replace(const Entries& entries, lpae::Descriptor value);
    bool separate(ViewSet views, std::uint64_t page);
    lpae::Descriptor block_of(lpae::Descriptor entry) const;

    Machine& machine_;
    Integrity& integrity_;
};

} // namespace mmioscope
