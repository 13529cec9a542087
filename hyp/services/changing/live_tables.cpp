#include "changing/live_tables.hpp"

#include "base/check.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

#include <algorithm>

namespace mmioscope {

using lpae::Descriptor;

namespace {
constexpr unsigned level = lpae::last_level - 1; ///< of the entries that lead to such a table
}

bool begin_quiet(Cpu& cpu) {
    Machine& machine = *cpu.machine;
    constexpr unsigned max_turns = 2000;
    std::uint64_t& spins = cpu.ring.statistics().lock_spins;
    if (cpu.locks.acquire_others(machine.locks, machine.regions.size(), cpu.number, spins) &&
        machine.changes.try_acquire(cpu.number, max_turns, spins)) {
        if (machine.memory != MemoryOf::each_cpu || page_locks.acquire_all(cpu.number, spins))
            return true;
        machine.changes.release();
    }
    cpu.locks.release_others();
    return false;
}

void end_quiet(Cpu& cpu) {
    if (cpu.machine->memory == MemoryOf::each_cpu) page_locks.release_all();
    cpu.machine->changes.release();
    cpu.locks.release_others();
}

void forget_translations() {
    port::complete_all(); // table walks see the descriptors
    port::write<reg::TLBIALLNSNHIS>(0);
    port::complete_all();
}

void forget_on_all_cpus() {
    forget_translations();
    // Nobody fetches by an older translation any more, and the caches may go by virtual address
    // (B3.11.2).
    port::write<reg::ICIALLUIS>(0);
    port::complete_all();
    port::synchronize_context();
}

LiveTables::Entries LiveTables::entries(ViewSet views, std::uint64_t address,
                                        unsigned level) const {
    Entries found;
    for (const View& view : machine_.all_views()) {
        const bool wanted = (views & 1) != 0;
        views >>= 1;
        Descriptor* const entry = wanted ? view.entry(address, level) : nullptr;
        if (entry != nullptr && std::ranges::find(found, entry) == found.end())
            check(found.push_back(entry), "more entries than views");
    }
    return found;
}

void LiveTables::replace(const Entries& entries, Descriptor value) {
    bool broken = false;
    for (Descriptor* entry : entries) {
        if (!lpae::is_valid(*entry) || *entry == value) continue;
        integrity_.store_sealed(*entry, 0);
        broken = true;
    }
    if (broken) forget_on_all_cpus();
    for (Descriptor* entry : entries)
        if (*entry != value) integrity_.store_sealed(*entry, value);
    port::publish_tables();
}

LiveTables::Entries LiveTables::alike(const Entries& entries, Descriptor value) {
    Entries found;
    for (Descriptor* entry : entries)
        if (*entry == value) check(found.push_back(entry), "more entries than views");
    return found;
}

/// The views get tables for the 2 MiB of `page` that no other one uses, with the same mapping.
/// False: nothing is mapped there, a whole 1 GiB is, others share the tables above, or no table is
/// left.
bool LiveTables::separate(ViewSet views, std::uint64_t page) {
    const Entries inside = entries(views, page, level);
    const Entries outside = entries(~views, page, level);
    for (Descriptor* entry : inside) {
        const Descriptor value = *entry;
        if (!lpae::is_valid(value) || std::ranges::find(outside, entry) != outside.end())
            return false;
        const bool shared = !alike(outside, value).empty();
        if (lpae::is_table(value, level) && !shared) continue;
        Descriptor* const table = machine_.pool.alloc_changing();
        if (table == nullptr) return false;
        expand(value, level, table);
        replace(alike(inside, value), lpae::make_table(port::address_of(table)));
    }
    return !inside.empty();
}

BootError LiveTables::objection(const Machine& machine, unsigned tables) {
    check(machine.memory != MemoryOf::the_start, "memory changes that was to stay as it is");
    if (machine.config.engine == abi::EngineKind::unprotect)
        return {"memory cannot change while the guest runs: engine unprotect opens pages for all "
                "CPUs, without a lock",
                ""};
    if (!machine.breakpoints)
        return {"memory cannot change while the guest runs: without breakpoints each step has "
                "tables of its own",
                ""};
    if (machine.broadcast_fails.load(std::memory_order_relaxed) != 0)
        return {"memory cannot change while the guest runs: a CPU has Cortex-A15 erratum 798181, "
                "and may go on with the translations of before",
                ""};
    if (machine.pool.left() < tables)
        return {"not enough room for the tables of memory that changes while the guest runs", ""};
    return {};
}

bool LiveTables::map(ViewSet views, std::uint64_t page, Descriptor leaf) {
    if (objection(machine_, 0) || !separate(views, page)) return false;
    replace(entries(views, page, lpae::last_level), leaf);
    return true;
}

/// The block that the entries of a table of separate() make; 0: they make none.
Descriptor LiveTables::block_of(Descriptor entry) const {
    if (!lpae::is_table(entry, level)) return 0;
    const auto* table = port::memory_at<const Descriptor>({lpae::output_address(entry)});
    const std::uint64_t to = lpae::output_address(table[0]);
    const lpae::Attributes attributes = lpae::attributes_of(table[0]);
    if (!machine_.pool.changes(table) || to % lpae::level_size(level) != 0) return 0;
    for (unsigned n = 0; n < lpae::table_entries; ++n)
        if (table[n] != lpae::make_leaf(to + n * page_size, attributes, lpae::last_level)) return 0;
    return lpae::make_leaf(to, attributes, level);
}

void LiveTables::join(std::uint64_t page) {
    if (machine_.memory == MemoryOf::each_cpu) return; // pages that move need their tables
    const Entries all = entries(every_view, page, level);
    for (Descriptor* entry : all) {
        const Descriptor value = *entry, block = block_of(value);
        if (block == 0) continue;
        replace(alike(all, value), block);
        machine_.pool.give_back(port::memory_at<Descriptor>({lpae::output_address(value)}));
    }
}

} // namespace mmioscope
