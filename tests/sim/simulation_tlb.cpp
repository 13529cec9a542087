// Everything besides the guest's own accesses that fills and empties the TLBs.
#include "simulation.hpp"

namespace mmioscope::sim {

void Simulation::leave_everything_mapped() {
    constexpr std::uint64_t device_block = 1 << 10 | 3 << 6 | 1 << 2 | 1;
    for (std::uint64_t i = 0; i < 4; ++i)
        ram.store<std::uint64_t>(unknown_table + 8 * i, i << 30 | device_block);
    for (Core& core : cores)
        for (const std::uint64_t page : speculated)
            core.tlb.translate({.vttbr = vttbr_at_reset}, static_cast<std::uint32_t>(page), 0);
}

// With the current tables or, until an ISB, possibly with those to come (B3.15.5).
void Simulation::speculate(Core& core) {
    if (speculated.empty() || (core.system.get<reg::HCR>() & 1) == 0) return;
    Random& random = scheduler.random();
    const auto va = static_cast<std::uint32_t>(speculated[random.below(speculated.size())]);
    Regime regime = core.regime();
    const auto coming = core.system.coming(encoding_of<reg::VTTBR>());
    if (coming && random.one_in(2)) regime.vttbr = *coming;
    if (random.one_in(16)) core.tlb.evict(regime, va);
    else core.tlb.translate(regime, va, scheduler.steps());
}

void Simulation::invalidate(Core& self, Invalidation::What what) {
    const auto coming = self.system.coming(encoding_of<reg::VTTBR>());
    const std::uint64_t vttbr =
        coming && scheduler.random().one_in(2) ? *coming : self.system.get<reg::VTTBR>();
    self.own_tlbi.push_back({.what = what, .vmid = vttbr >> 48, .by_hyp = true});
    if (scheduler.random().one_in(2)) perform_own_tlbi(self);
}

void Simulation::perform_own_tlbi(Core& self) {
    for (const Invalidation& what : self.own_tlbi) {
        perform(self, what);
        if (what.what == Invalidation::What::everything) self.missed_maintenance = false;
    }
    self.own_tlbi.clear();
    if (self.predictors_invalidated && conditions.code_cached_by_pa) self.icache.clear();
    self.predictors_invalidated = false;
    if (!self.icache_invalidated) return;
    self.icache_unknown = self.icache_invalidated = false;
    self.icache.clear();
    self.lines.clear();
}

/// Each CPU carries it out once: results of later walks stay.
void Simulation::deliver_broadcast(Core& self, std::uint32_t to) {
    for (Core& other : cores)
        if ((self.broadcast_to & to & 1u << other.number) != 0) perform(other, {.by_hyp = true});
    self.broadcast_to &= ~to;
}

/// Likewise.
void Simulation::forget_code(Core& self, std::uint32_t of) {
    for (Core& other : cores)
        if ((self.icaches_to & of & 1u << other.number) != 0) {
            other.icache.clear();
            other.lines.clear();
        }
    self.icaches_to &= ~of;
}

void Simulation::perform(Core& core, const Invalidation& what) {
    if (!defects.tlb_maintenance_ignored) core.tlb.forget(what);
}

void Simulation::broadcast(Core& self, Invalidation what) {
    what.vmid = self.regime().vmid();
    what.issued = scheduler.steps();
    self.broadcasts.push_back(what);
    for (Core& other : cores)
        if (scheduler.random().one_in(2)) other.tlb.forget(what);
}

void Simulation::complete_broadcasts(Core& self) {
    for (const Invalidation& what : self.broadcasts) {
        for (Core& other : cores) other.tlb.forget(what);
        retired.add(what);
    }
    self.broadcasts.clear();
}

void Retired::add(const Invalidation& what) {
    switch (what.what) {
    case Invalidation::What::address:
    case Invalidation::What::address_any_asid: page[what.va >> 12] = what.issued; break;
    case Invalidation::What::asid: asid[what.asid] = what.issued; break;
    default: all = what.issued; break;
    }
}

bool Retired::covers(const Route& route, std::uint32_t va) const {
    const auto later = [&route](const auto& times, auto key) {
        const auto found = times.find(key);
        return found != times.end() && found->second > route.filled;
    };
    return all > route.filled || later(page, va >> 12) || later(asid, route.asid);
}

} // namespace mmioscope::sim
