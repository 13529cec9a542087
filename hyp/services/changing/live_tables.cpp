#include "changing/live_tables.hpp"

#include "base/check.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

using lpae::Descriptor;

bool begin_quiet(Cpu& cpu) {
    Machine& machine = *cpu.machine;
    constexpr unsigned max_turns = 2000;
    std::uint64_t& spins = cpu.ring.statistics().lock_spins;
    if (!machine.locks.acquire_all(machine.regions.size(), cpu.number, spins)) return false;
    if (machine.changes.try_acquire(cpu.number, max_turns, spins)) return true;
    machine.locks.release_all(machine.regions.size());
    return false;
}

void end_quiet(Machine& machine) {
    machine.changes.release();
    machine.locks.release_all(machine.regions.size());
}

void forget_on_all_cpus() {
    port::complete_all(); // table walks see the descriptors
    port::write<reg::TLBIALLNSNHIS>(0);
    port::complete_all();
    // Nobody fetches by an older translation any more, and the caches may go by virtual address
    // (B3.11.2).
    port::write<reg::ICIALLUIS>(0);
    port::complete_all();
    port::synchronize_context();
}

LiveTables::Entries LiveTables::entries(bool in_steps, std::uint64_t address,
                                        unsigned level) const {
    Entries found;
    for (unsigned n = 0; n < (in_steps ? machine_.cpu_count : 1); ++n) {
        const View& view = in_steps ? machine_.shadow_tables[n] : machine_.normal_table;
        Descriptor* const entry = view.entry(address, level);
        const bool shared = !found.empty() && entry == found[0];
        if (entry != nullptr && !shared) check(found.push_back(entry), "more views than CPUs");
    }
    return found;
}

void LiveTables::replace(const Entries& entries, Descriptor value) {
    if (*entries[0] == value) return;
    if (lpae::is_valid(*entries[0])) {
        for (Descriptor* entry : entries) integrity_.store_sealed(*entry, 0);
        forget_on_all_cpus();
    }
    for (Descriptor* entry : entries) integrity_.store_sealed(*entry, value);
    port::publish_tables();
}

/// The entry becomes a table with the same mapping, if it is a block. False: it is invalid, or
/// there is no table left.
bool LiveTables::split(const Entries& entries, unsigned level) {
    if (entries.empty() || !lpae::is_valid(*entries[0])) return false;
    if (lpae::is_table(*entries[0], level)) return true;
    Descriptor* const table = machine_.pool.alloc_changing();
    if (table == nullptr) return false;
    expand(*entries[0], level, table);
    replace(entries, lpae::make_table(port::address_of(table)));
    return true;
}

/// The reverse. False: it is no table of split(), or its entries are not those of a block.
bool LiveTables::join(const Entries& entries, unsigned level) {
    if (entries.empty() || !lpae::is_table(*entries[0], level)) return false;
    auto* table = port::memory_at<Descriptor>({lpae::output_address(*entries[0])});
    const std::uint64_t size = lpae::level_size(level + 1);
    const std::uint64_t to = lpae::output_address(table[0]);
    const lpae::Attributes attributes = lpae::attributes_of(table[0]);
    if (!machine_.pool.changes(table) || to % lpae::level_size(level) != 0) return false;
    for (unsigned n = 0; n < lpae::table_entries; ++n)
        if (table[n] != lpae::make_leaf(to + n * size, attributes, level + 1)) return false;
    replace(entries, lpae::make_leaf(to, attributes, level));
    machine_.pool.give_back(table);
    return true;
}

bool LiveTables::change(std::uint64_t page, Descriptor normal, Descriptor in_steps) {
    if (!machine_.breakpoints) return false;
    for (const bool steps : {false, true})
        for (unsigned level = lpae::first_level; level < lpae::last_level; ++level)
            if (!split(entries(steps, page, level), level)) return false;
    replace(entries(false, page, lpae::last_level), normal);
    replace(entries(true, page, lpae::last_level), in_steps);
    return true;
}

void LiveTables::join(std::uint64_t page) {
    for (const bool steps : {false, true})
        for (unsigned level = lpae::last_level - 1; level >= lpae::first_level; --level)
            if (!join(entries(steps, page, level), level)) break;
}

} // namespace mmioscope
