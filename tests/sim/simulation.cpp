#include "simulation.hpp"

namespace mmioscope::sim {

namespace {

Simulation* the_simulation;

constexpr Range ram_range{0x8000'0000, 0x8400'0000};
constexpr std::uint64_t first_tick = 1'000'000;
constexpr std::uint32_t mdbgen = 1u << 15;

} // namespace

Simulation::Simulation(const Conditions& c)
    : conditions(c), ram(ram_range), cores(c.cpus),
      scheduler(c.seed, c.switch_one_in, c.step_limit) {
    the_simulation = this;
    for (unsigned i = 0; i < c.cpus; ++i) {
        Core& core = cores[i];
        core.number = i;
        core.system.set<reg::MIDR>(0x414f'c0f0);
        core.system.set<reg::MPIDR>(0x8000'0000 | i);
        core.system.set<reg::DBGDIDR>(0x3515'f005); // six breakpoints
        core.system.set<reg::NSACR>(0xc00); // as boot/ leaves it
        core.system.set<reg::CNTFRQ>(62'500'000);
        for (unsigned n = 0; n < 6; ++n) // UNKNOWN after reset
            core.system.set(encode32(14, 0, 0, n, 5), 0xffff'ffff);
        core.system.set<reg::VTTBR>(0x00ab'0000'8000'0000);
    }
}

Simulation::~Simulation() { the_simulation = nullptr; }

Simulation* Simulation::current() { return the_simulation; }

Core& Simulation::core() {
    const unsigned task = scheduler.current();
    return cores[task < cores.size() ? task : 0];
}

std::uint64_t Simulation::now() const {
    return first_tick + scheduler.steps() / conditions.steps_per_tick;
}

void Simulation::point() {
    scheduler.point();
    if (scheduler.current() < cores.size() && scheduler.random().one_in(8)) speculate(core());
}

// Until an ISB the CPU may walk with either table (ARM ARM B3.15.5).
void Simulation::speculate(Core& core) {
    if (speculated.empty() || core.system.get<reg::HCR>() == 0) return;
    Random& random = scheduler.random();
    const std::uint64_t page = speculated[random.below(speculated.size())];
    const bool before = !core.vttbr_settled && random.one_in(2);
    const std::uint64_t vttbr = before ? core.vttbr_before : core.vttbr();
    if (!core.tlb.holds(vttbr, page)) core.tlb.translate(ram, vttbr, page);
    else if (random.one_in(4)) core.tlb.forget_page(vttbr, page);
}

std::uint64_t Simulation::read_register(Encoding which) {
    point();
    if (which == encoding_of<reg::CNTPCT>()) return now();
    return core().system.get(which);
}

void Simulation::write_register(Encoding which, std::uint64_t value) {
    point();
    Core& self = core();
    switch (which) {
    case encoding_of<reg::VTTBR>():
        if (self.vttbr_settled) self.vttbr_before = self.vttbr();
        self.vttbr_settled = false;
        self.executed_on_shadow = 0;
        view_changes.push_back({self.number, value});
        break;
    case encoding_of<reg::TLBIALL>():
    case encoding_of<reg::TLBIALLNSNH>():
        self.tlbi_pending = true;
        if (scheduler.random().one_in(2)) perform_tlbi(self);
        return;
    case encoding_of<reg::TLBIALLNSNHIS>():
        for (Core& other : cores) other.tlb.forget_all();
        return;
    case encoding_of<reg::ATS1CPR>():
    case encoding_of<reg::ATS1CUR>(): // the guest's MMU is off
        self.system.set<reg::PAR>(value & 0xffff'f000);
        return;
    case encoding_of<reg::DBGOSLAR>():
        self.system.set<reg::DBGOSLSR>(value == 0xc5ac'ce55 ? 2 : 0);
        return;
    case encoding_of<reg::DBGDSCR>():
        if (conditions.dbgen_low) value &= ~std::uint64_t{mdbgen};
        break;
    default: break;
    }
    self.system.set(which, value);
}

void Simulation::perform_tlbi(Core& core) {
    core.tlbi_pending = false;
    if (!defects.tlb_maintenance_ignored) core.tlb.forget_all();
}

void Simulation::synchronize_context() {
    point();
    if (!defects.context_synchronization_ignored) core().vttbr_settled = true;
}

void Simulation::complete_local() {
    point();
    if (core().tlbi_pending) perform_tlbi(core());
}

void Simulation::complete_all() { complete_local(); }

void Simulation::store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    point();
    *entry = value;
    table_writes.push_back({ram.address_of(entry).value, value});
}

void Simulation::check_hyp_mapping(PhysicalAddress address, bool device) {
    const Registers& system = core().system;
    if ((system.get<reg::HSCTLR>() & 1) == 0) return;
    const Translation leaf = walk(ram, system.get<reg::HTTBR>(), address.value);
    const std::uint64_t attribute = (leaf.descriptor >> 2) & 7; // into HMAIR0
    const std::uint64_t memory_type = (system.get<reg::HMAIR0>() >> (8 * attribute)) & 0xff;
    if (!leaf.valid()) throw Failure{"Hyp uses an address that its table does not map"};
    if ((memory_type == 0x04) != device) throw Failure{"Hyp uses memory as a device or vice versa"};
}

} // namespace mmioscope::sim
