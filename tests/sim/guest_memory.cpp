// The guest's accesses. If its MMU is off, virtual addresses are intermediate ones, and all are
// Strongly-ordered. Of the memory types only Normal or not matters: an unaligned access requires
// Normal memory (A3.2.1) in both stages, which combine to the stricter type (B3.8).
#include "guest_cpu.hpp"

#include "machine/machine.hpp"

namespace mmioscope::sim {

namespace {

/// The map's entry for the page, unless it is being changed. Takes no time.
bool must_trap(const Machine& machine, std::uint64_t address) {
    if (machine.changes.held()) return false;
    const Range page{page_floor(address), page_floor(address) + page_size};
    for (const Span& span : machine.map)
        if (span.range.overlaps(page) &&
            ((span.tracing & Span::traced_bit) != 0 || span.mapped != Mapped::always))
            return true;
    return false;
}

/// Memory that is described as a device.
bool is_memory(const Machine& machine, std::uint64_t address) {
    const Span* span = machine.map.find({address});
    return span != nullptr && (machine.regions[span->region].flags & abi::region_memory) != 0;
}

} // namespace

Route GuestCpu::translate(std::uint32_t va) {
    if (core_.missed_maintenance && sim_.hypervisor != nullptr)
        throw Failure{"translations of before the CPU left the coherency domain are used"};
    const Regime regime = core_.regime();
    const Route route = core_.tlb.translate(regime, va, sim_.scheduler.steps());
    if (regime.stage1 && route.stop == Route::Stop::none && sim_.retired.covers(route, va))
        throw Failure{"a translation was used that the guest had unmapped"};
    return route;
}

bool GuestCpu::fetch(std::uint32_t va, std::uint16_t& halfword) {
    if (core_.icache_unknown) throw Failure{"the guest runs from a cache never invalidated"};
    const Route route = translate(va);
    if (route.stop != Route::Stop::none || !route.leaf.executable()) {
        stopped_fetch(va, route);
        return false;
    }
    const std::uint64_t address = route.leaf.output(route.ipa);
    if (sim_.bus.aborts(address, false)) {
        constexpr std::uint32_t external_abort = 8;
        native_prefetch_abort(va, external_abort);
        return false;
    }
    if (!sim_.ram.contains(address, 2)) throw Failure{"the guest executes outside of memory"};
    if (sim_.touched) sim_.touched(core_, address, false);
    halfword = sim_.fetch(core_, va, address);
    return true;
}

bool GuestCpu::on_shadow() const {
    return sim_.hypervisor != nullptr &&
           core_.root() != sim_.hypervisor->normal(core_.number).root().value;
}

/// Whether a table leads there that must not: any except a shadow table during a step.
bool GuestCpu::reaches_trapped(std::uint64_t address) const {
    Machine* hypervisor = sim_.hypervisor;
    return hypervisor != nullptr && hypervisor->config.engine != abi::EngineKind::unprotect &&
           core_.root() == hypervisor->normal(core_.number).root().value &&
           must_trap(*hypervisor, address);
}

bool GuestCpu::access(std::uint32_t va, unsigned log2_size, bool write, const Syndrome& syndrome,
                      std::uint32_t& value) {
    constexpr std::uint32_t alignment_fault = 1;
    const bool aligned = va % (1u << log2_size) == 0;
    if (!aligned && (!syndrome.single || !core_.regime().stage1)) {
        native_data_abort(va, alignment_fault, write);
        return false;
    }
    const std::uint32_t last = va + (1u << log2_size) - 1;
    if (page_floor(va) == page_floor(last))
        return access_in_page(va, log2_size, write, syndrome, value, aligned);
    return access_over_pages(va, last, log2_size, write, syndrome, value);
}

/// A byte at a time (MemU[], B2.4.4); but a CPU may translate both pages before that, in any order.
/// A store may thus happen in part, or not at all, before it traps.
bool GuestCpu::access_over_pages(std::uint32_t va, std::uint32_t last, unsigned log2_size,
                                 bool write, const Syndrome& syndrome, std::uint32_t& value) {
    const auto translates = [&](std::uint32_t at) {
        const Route route = translate(at);
        const Translation& leaf = route.leaf;
        const bool faults = route.stop == Route::Stop::stage1 || route.stop == Route::Stop::walk;
        if (!faults && !route.normal) return true; // an alignment fault comes first
        if (route.stop == Route::Stop::none && (write ? leaf.writable() : leaf.readable()))
            return true;
        stopped_access(at, route, write, syndrome, log2_size);
        return false;
    };
    const auto second = static_cast<std::uint32_t>(page_floor(last));
    if (sim_.scheduler.random().one_in(3) && !translates(second)) return false;
    if (sim_.scheduler.random().one_in(2) && (!translates(va) || !translates(second))) return false;
    Syndrome whole = syndrome;
    whole.whole_size = log2_size;
    std::uint32_t moved = 0;
    for (std::uint32_t at = va; at <= last; ++at) {
        std::uint32_t byte = value >> 8 * (at - va) & 0xff;
        if (!access_in_page(at, 0, write, whole, byte, false)) return false;
        moved |= byte << 8 * (at - va);
    }
    value = moved;
    return true;
}

bool GuestCpu::access_in_page(std::uint32_t va, unsigned log2_size, bool write,
                              const Syndrome& syndrome, std::uint32_t& value, bool aligned) {
    constexpr std::uint32_t alignment_fault = 1;
    sim_.point();
    const Route route = translate(va); // from here to the access, no other CPU's DSB can complete
    const Translation& leaf = route.leaf;
    const bool through_stage1 =
        route.stop == Route::Stop::none || route.stop == Route::Stop::stage2;
    if (!aligned && through_stage1 && !route.normal) {
        native_data_abort(va, alignment_fault, write);
        return false;
    }
    if (route.stop != Route::Stop::none || (write ? !leaf.writable() : !leaf.readable())) {
        stopped_access(va, route, write, syndrome, syndrome.whole_size.value_or(log2_size));
        return false;
    }
    if (hits_watchpoint(va, log2_size, write)) {
        watchpoint_event(va, write);
        return false;
    }
    if (!aligned && leaf.device()) {
        misaligned_by_stage2(va, write);
        return false;
    }
    const std::uint64_t address = leaf.output(route.ipa);
    if (sim_.ram.contains(address, 1u << log2_size)) {
        if (leaf.device()) throw Failure{"memory is mapped as a device"};
        if (sim_.read_ahead.contains(address & ~3ull))
            throw Failure{"the guest reads a line of before Hyp's store"};
        if (sim_.touched) sim_.touched(core_, address, write);
        std::byte* at = sim_.ram.at({address});
        if (write && core_.stores_exclusive && !core_.monitor) return true; // another CPU's store
        if (write) std::memcpy(at, &value, std::size_t{1} << log2_size);
        for (Core& other : sim_.cores) // of memory the monitor is a global one (A3.4.2)
            if (write && &other != &core_ && other.monitor_address == va) other.monitor = false;
        if (!write) std::memcpy(&value, at, std::size_t{1} << log2_size);
        return true;
    }
    if (on_shadow() && leaf.cacheable() && must_trap(*sim_.hypervisor, address) &&
        !is_memory(*sim_.hypervisor, address))
        throw Failure{"a step reaches a device by a cache"};
    if (reaches_trapped(address)) throw Failure{"a CPU that is not stepping reached a traced page"};
    if (sim_.bus.aborts(address, write)) {
        constexpr std::uint32_t external_abort = 8;
        native_data_abort(va, external_abort, write);
        return false;
    }
    value = static_cast<std::uint32_t>(
        sim_.device_access({sim_.now(), address, value, core_.number, log2_size, write, false}));
    return true;
}

bool GuestCpu::load(std::uint32_t va, unsigned log2_size, const Syndrome& syndrome,
                    std::uint32_t& value) {
    value = 0;
    if (!access(va, log2_size, false, syndrome, value)) return false;
    if (syndrome.sign && log2_size == 0)
        value = static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
    if (syndrome.sign && log2_size == 1)
        value = static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
    return true;
}

bool GuestCpu::store(std::uint32_t va, unsigned log2_size, const Syndrome& syndrome,
                     std::uint32_t value) {
    return access(va, log2_size, true, syndrome, value);
}

// HSR describes single loads and stores without writeback that leave the PC alone (B3.13.6).
GuestCpu::Effect GuestCpu::transfer(const Transfer& t) {
    const Syndrome syndrome{!t.writeback && t.reg != 15, t.reg, t.sign, false, true};
    std::uint32_t value = 0;
    if (t.load ? !load(t.address, t.log2_size, syndrome, value)
               : !store(t.address, t.log2_size, syndrome, get(t.reg)))
        return Effect::trapped;
    if (t.writeback) set(t.base, t.base_after);
    if (!t.load) return Effect::next;
    if (t.reg == 15) return exchange(value);
    set(t.reg, value);
    return Effect::next;
}

/// Registers are written after all accesses: an abort leaves them unchanged.
GuestCpu::Effect GuestCpu::transfer_many(bool is_load, unsigned base, std::uint32_t address,
                                         std::uint32_t list, std::uint32_t base_after,
                                         bool writeback) {
    std::uint32_t values[16]{};
    for (unsigned n = 0; n < 16; ++n) {
        if ((list >> n & 1) == 0) continue;
        if (is_load ? !load(address, 2, {}, values[n]) : !store(address, 2, {}, get(n)))
            return Effect::trapped;
        address += 4;
    }
    if (writeback) set(base, base_after);
    for (unsigned n = 0; is_load && n < 15; ++n)
        if ((list >> n & 1) != 0) set(n, values[n]);
    return is_load && (list >> 15 & 1) != 0 ? exchange(values[15]) : Effect::next;
}

/// Maintenance by address: translated like an access, but does not reach devices.
GuestCpu::Effect GuestCpu::maintain(std::uint32_t va) {
    const Route route = translate(va);
    if (route.stop == Route::Stop::none) return Effect::next;
    stopped_access(va, route, true, {.maintenance = true}, 0);
    return Effect::trapped;
}

/// ATS1C*: a walk that stage 2 stops is Hyp's, and looks like maintenance (B3.12.7, table B3-19).
/// PAR is in the short-descriptor format.
GuestCpu::Effect GuestCpu::translate_address(std::uint32_t va) {
    const Route route = translate(va);
    if (route.stop == Route::Stop::walk) {
        stopped_access(va, route, true, {.maintenance = true}, 0);
        return Effect::trapped;
    }
    const bool fault = route.stop == Route::Stop::stage1;
    core_.system.set(encoding_of<reg::PAR>(),
                     fault ? route.status << 1 | 1 : route.ipa & 0xffff'f000);
    return Effect::next;
}

} // namespace mmioscope::sim
