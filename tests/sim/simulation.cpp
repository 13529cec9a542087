#include "simulation.hpp"

#include "machine/machine.hpp"

namespace mmioscope::sim {

namespace {

Simulation* the_simulation;

constexpr Range ram_range{0x8000'0000, 0x8400'0000};
constexpr std::uint64_t first_tick = 1'000'000;
constexpr std::uint32_t mdbgen = 1u << 15;
constexpr std::uint64_t device_type = 0x04, uncached_type = 0x44; ///< of HMAIR0 (B4.1.71)

} // namespace

Simulation::Simulation(const Conditions& c)
    : conditions(c), ram(ram_range), cores(c.cpus, Core(ram)),
      scheduler(c.seed, c.switch_one_in, c.step_limit),
      memory(c.cpus, scheduler.random(), c.old_payload, c.exclusives_fail_one_in), ahead_(c.seed) {
    the_simulation = this;
    for (unsigned i = 0; i < c.cpus; ++i) {
        Core& core = cores[i];
        core.number = i;
        core.tlb = Tlb({ram, tables, i, &bus});
        core.system.set<reg::MIDR>(c.mistakes_thumb_stores ? 0x410f'c0f4 : 0x414f'c0f0);
        core.system.set<reg::MPIDR>(0x8000'0000 | i);
        core.system.set<reg::CTR>(c.code_cached_by_pa ? 0x8444'c004 : 0x8444'4004);
        core.system.set<reg::DBGDIDR>(0x3515'f005); // six breakpoints
        core.system.set<reg::ID_PFR1>(0x0001'1011); // Security and Virtualization Extensions
        core.system.set<reg::NSACR>(0xc00 | (c.smp_is_guests ? 1u << 18 : 0)); // by boot/, firmware
        core.system.set<reg::ACTLR>(0x40);
        core.system.set<reg::CNTFRQ>(62'500'000);
        for (unsigned n = 0; n < 6; ++n) // DBGBCRn and DBGWCRn are UNKNOWN after reset
            core.system.set(encode32(14, 0, 0, n, 5), 0xffff'ffff);
        for (unsigned n = 0; n < 4; ++n) core.system.set(encode32(14, 0, 0, n, 7), 0xffff'ffff);
        core.system.set<reg::VTTBR>(vttbr_at_reset);
        core.system.set<reg::DBGOSLSR>(2); // Cortex-A15: locked
    }
}

Simulation::~Simulation() {
    the_simulation = nullptr;
}

Simulation* Simulation::current() {
    return the_simulation;
}

Core& Simulation::core() {
    const unsigned task = scheduler.current();
    return cores[task < cores.size() ? task : 0];
}

std::uint64_t Simulation::now() const {
    return first_tick + ticks_stopped + scheduler.steps() / conditions.steps_per_tick;
}

void Simulation::point() {
    scheduler.point();
    if (!in_task()) return;
    if (const unsigned rate = conditions.stopped_one_in;
        rate > 0 && scheduler.random().one_in(rate))
        ticks_stopped += conditions.ticks_of_stop;
    if (scheduler.random().one_in(8)) speculate(core());
    if (ahead_.one_in(64)) read_ahead_in_hyp();
    if (scheduler.random().one_in(conditions.late_one_in)) do_something_late(core());
    Core& other = cores[scheduler.random().below(cores.size())];
    if (scheduler.random().one_in(conditions.late_one_in)) memory.drain_one(other.number);
}

void Simulation::do_something_late(Core& self) {
    switch (scheduler.random().below(6)) {
    case 0: self.system.settle_one(scheduler.random()); break;
    case 1: memory.drain_one(self.number); break;
    case 2: perform_own_tlbi(self); break;
    case 3: tables.show_one(scheduler.random()); break;
    case 4: deliver_broadcast(self, static_cast<std::uint32_t>(scheduler.random().next())); break;
    default: arrive(self); break;
    }
}

/// The counter may be read before earlier instructions, back to the last context synchronization
/// (ARM ARM B8.1.2).
std::uint64_t Simulation::read_counter(Core& core) {
    const std::uint64_t late = now();
    core.counter_read = true;
    if (!in_task() || scheduler.random().one_in(2)) return late;
    return core.synchronized + scheduler.random().below(late - core.synchronized + 1);
}

std::uint64_t Simulation::read_register(Encoding which) {
    point();
    if (which == encoding_of<reg::CNTPCT>()) return read_counter(core());
    if (which == encoding_of<reg::HCPTR>()) // what NSACR forbids reads as one (B4.1.64)
        return core().system.read(which) | (~core().system.get<reg::NSACR>() & 0xc00u);
    return core().system.read(which);
}

bool Simulation::debug_locked(const Core& core) const {
    return (core.system.get<reg::DBGOSLSR>() & 2) != 0 ||
           (core.system.get<reg::DBGOSDLR>() & 1) != 0;
}

namespace {
/// PAR in the 64-bit format (B4.1.112): LPAE, then PA, or F, S2WLK and FSTAGE. Stage 1 alone is
/// asked for, so a page that stage 2 does not map is found.
std::uint64_t par_of(const Route& route) {
    constexpr std::uint64_t lpae = 1u << 11, walk = 3u << 8, failed = 1;
    if (route.stop == Route::Stop::stage1) return lpae | failed;
    if (route.stop == Route::Stop::walk) return lpae | walk | failed;
    return lpae | (route.ipa & 0xffff'f000);
}

constexpr bool is_debug_register(Encoding which) { // DBGBVRn, DBGBCRn, DBGWVRn, DBGWCRn, DBGDSCR
    return (which & 0x800f'ff0f) == encode32(14, 0, 0, 0, which & 7) &&
           ((which & 7) >= 4 || which == encoding_of<reg::DBGDSCR>());
}
} // namespace

/// The result may come from the TLB, or from a walk.
void Simulation::translate_address(Core& self, std::uint64_t value) {
    const auto va = static_cast<std::uint32_t>(value);
    if (scheduler.random().one_in(4)) self.tlb.evict(self.regime(), va);
    const Route route = self.tlb.translate(self.regime(), va, scheduler.steps());
    self.system.write(encoding_of<reg::PAR>(), par_of(route), true);
}

void Simulation::write_register(Encoding which, std::uint64_t value) {
    point();
    Core& self = core();
    if (is_debug_register(which) && debug_locked(self)) return; // UNPREDICTABLE (C6.5): ignored
    switch (which) {
    case encoding_of<reg::VTTBR>():
        self.executed_on_shadow = 0;
        view_changes.push_back({self.number, value});
        break;
    case encoding_of<reg::TLBIALL>():
        for (auto& [address, entry] : broken_)
            entry.own_told |= entry.own_seen && entry.writer == self.number;
        return invalidate(self, Invalidation::What::vmid);
    case encoding_of<reg::TLBIALLNSNH>(): return invalidate(self, Invalidation::What::everything);
    case encoding_of<reg::TLBIALLNSNHIS>():
        self.broadcast_by_hyp = true;
        for (auto& [address, entry] : broken_)
            if (entry.seen) entry.told_by = self.number;
        self.broadcast_to = (1u << cores.size()) - 1;
        return deliver_broadcast(self, static_cast<std::uint32_t>(scheduler.random().next()));
    case encoding_of<reg::ICIALLU>(): self.icache_invalidated = true; return;
    case encoding_of<reg::BPIALL>(): self.predictors_invalidated = true; return;
    case encoding_of<reg::ICIALLUIS>():
        self.icaches_to = (1u << cores.size()) - 1;
        return forget_code(self, static_cast<std::uint32_t>(scheduler.random().next()));
    case encoding_of<reg::ATS1CPR>():
    case encoding_of<reg::ATS1CPW>():
    case encoding_of<reg::ATS1CUR>():
    case encoding_of<reg::ATS1CUW>(): return translate_address(self, value);
    case encoding_of<reg::ATS1HW>(): {
        const bool mapped = (self.system.get<reg::HSCTLR>() & 1) == 0 || hyp_leaf(value).valid();
        self.system.write(encoding_of<reg::PAR>(), mapped ? 0 : 1, true);
        return;
    }
    case encoding_of<reg::DBGOSLAR>():
        self.system.write(encoding_of<reg::DBGOSLSR>(), value == 0xc5ac'ce55 ? 2 : 0, true);
        return;
    case encoding_of<reg::ACTLR>(): // Non-secure: at most SMP is writable
        if ((self.system.get<reg::NSACR>() & 1u << 18) == 0) return;
        value = (self.system.get<reg::ACTLR>() & ~0x40u) | (value & 0x40);
        break;
    case encoding_of<reg::DBGDSCR>():
        if ((conditions.dbgen_low >> self.number & 1) != 0) value &= ~std::uint64_t{mdbgen};
        break;
    default: break;
    }
    self.system.write(which, value);
    if (!in_task()) self.system.settle();
}

void Simulation::synchronize(Core& self) {
    self.system.settle();
    self.synchronized = now();
    self.counter_read = false;
}

void Simulation::synchronize_context() {
    point();
    if (!defects.context_synchronization_ignored) synchronize(core());
}

/// A store that changes nothing is no point: nobody can tell whether it has happened. Half of what
/// the start stores is zeros over zeros.
void Simulation::store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    if (*entry == value) return;
    point();
    set_descriptor(entry, value);
}

void Simulation::set_descriptor(std::uint64_t* entry, std::uint64_t value) {
    const std::uint64_t address = ram.address_of(entry).value;
    if (in_task() && hypervisor != nullptr) check_change(entry, address, value);
    if (in_task() && *entry != value) tables.store(core().number, address, *entry);
    *entry = value;
    table_writes.push_back({address, value});
}

// B3.10.1, of what any CPU of the guest may use. Only a CPU's own steps without breakpoints change
// tables that are not in use.
void Simulation::check_change(const std::uint64_t* entry, std::uint64_t address,
                              std::uint64_t value) {
    constexpr std::uint64_t of_software = std::uint64_t{0xf} << 55; // B3.6.2
    const std::uint64_t now = value & ~of_software, before = *entry & ~of_software;
    constexpr std::uint64_t rights = 3 << 6; // these may change while the descriptor is valid
    if (((now ^ before) & ~rights) == 0 || (!hypervisor->breakpoints && hypervisor->pool.changes(entry))) return;
    if ((now & before & 1) != 0) throw Failure{"a valid descriptor became another valid one"};
    const auto gone = broken_.find(address);
    if ((before & 1) != 0) {
        broken_[address] = {.before = before, .writer = core().number};
    } else if ((now & 1) != 0 && gone != broken_.end()) {
        if (gone->second.before != now)
            throw Failure{"a descriptor is valid, and not all CPUs have forgotten the one before"};
        broken_.erase(gone);
    }
}

/// Whether no other CPU's views lead to the level-3 table.
bool Simulation::is_own(const Core& self, std::uint64_t table) {
    constexpr unsigned level = lpae::last_level - 1;
    for (const Core& other : cores) {
        if (other.number == self.number) continue;
        for (const View* view : {&hypervisor->normal(other.number), &hypervisor->shadow(other.number)})
            for (std::uint64_t at = ram.range().begin; at < ram.range().end; at += lpae::level_size(level))
                if (const auto* entry = view->entry(at, level);
                    entry != nullptr && lpae::output_address(*entry) == table)
                    return false;
    }
    return true;
}

/// What a CPU has broken in a table of its own, and has itself forgotten.
void Simulation::forget_own(Core& self) {
    std::erase_if(broken_, [&](const auto& each) {
        const auto& [address, entry] = each;
        return entry.own_told && entry.writer == self.number && is_own(self, page_floor(address));
    });
    for (auto& [address, entry] : broken_) entry.own_seen |= entry.writer == self.number;
}

void Simulation::store_half(std::uint64_t& entry, bool upper, std::uint64_t value) {
    Core& self = core();
    if (self.half_stored == &entry) throw Failure{"the halves of a descriptor are not ordered"};
    self.half_stored = &entry;
    constexpr std::uint64_t lower = 0xffff'ffff;
    const std::uint64_t mask = upper ? ~lower : lower;
    store_descriptor(&entry, (entry & ~mask) | (value & mask));
}

Translation Simulation::hyp_leaf(std::uint64_t address) {
    return walk({ram, tables, core().number}, core().system.get<reg::HTTBR>(), address);
}

std::uint64_t Simulation::hyp_memory_type(const Translation& leaf) {
    const std::uint64_t attribute = (leaf.descriptor >> 2) & 7; // into HMAIR0
    return (core().system.get<reg::HMAIR0>() >> (8 * attribute)) & 0xff;
}

void Simulation::check_hyp_mapping(PhysicalAddress address, bool device) {
    if ((core().system.get<reg::HSCTLR>() & 1) == 0) return;
    const Translation leaf = hyp_leaf(address.value);
    if (!leaf.valid()) throw Failure{"Hyp uses an address that its table does not map"};
    if ((hyp_memory_type(leaf) == device_type) != device)
        throw Failure{"Hyp uses memory as a device or vice versa"};
}

/// A CPU in Hyp may read ahead whatever its table maps as Normal memory, and keeps it in its cache
/// if it is Write-Back. The guest would find such a line after it has turned its own cache on,
/// whatever it has written to memory before (ARM ARM A3.5.7).
void Simulation::read_ahead_in_hyp() {
    if (hypervisor == nullptr || (core().system.get<reg::HSCTLR>() & 1) == 0) return;
    const std::uint64_t at = page_floor(ram.range().begin + ahead_.below(ram.range().size()));
    const Translation leaf = hyp_leaf(at);
    if (!leaf.valid() || hyp_memory_type(leaf) == device_type) return;
    if (in_memory(hypervisor->no_map, {at}))
        throw Failure{"Hyp reads ahead in memory that is not to be mapped"};
    if (in_memory(hypervisor->guest_memory, {at}) && hyp_memory_type(leaf) != uncached_type)
        throw Failure{"Hyp's cache has lines of the guest's memory"};
}

} // namespace mmioscope::sim
