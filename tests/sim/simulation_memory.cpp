// Barriers, words shared by CPUs, and writes on their way to devices.
#include "simulation.hpp"

#include "machine/machine.hpp"

namespace mmioscope::sim {

void Simulation::complete_local() {
    point();
    core().half_stored = nullptr;
    perform_own_tlbi(core());
    tables.complete_own(core().number);
    if (hypervisor != nullptr) forget_own(core());
}

void Simulation::complete_all() {
    complete_local();
    memory.complete(core().number);
    tables.complete(core().number);
    for (auto& [address, entry] : broken_) entry.seen |= entry.writer == core().number;
    forget_code(core(), ~0u);
    if (!core().broadcast_by_hyp) return;
    core().broadcast_by_hyp = false;
    std::erase_if(broken_,
                  [&](const auto& entry) { return entry.second.told_by == core().number; });
    deliver_broadcast(core(), ~0u);
    for (Core& other : cores) // based on translations that are invalid now (B3.10.1)
        while (!other.posted.empty()) arrive(other);
}

void Simulation::complete_system() {
    complete_all();
    while (!core().posted.empty()) arrive(core());
}

void Simulation::publish_tables() {
    point();
    core().half_stored = nullptr;
    memory.complete(core().number);
    tables.complete(core().number);
}

void Simulation::order_memory() {
    point();
    core().half_stored = nullptr;
    memory.order(core().number, core().counter_read);
}

/// Outside of the coherency domain, shared words are neither visible nor exclusive.
void Simulation::check_coherency() {
    if (in_task() && !core().coherent())
        throw Failure{"Hyp shares memory outside of the coherency domain"};
}

void Simulation::wait_outside_coherency() {
    complete_system();
    Core& self = core();
    const bool may = (self.system.get<reg::NSACR>() & 1u << 18) != 0;
    if (may) self.system.set<reg::ACTLR>(self.system.get<reg::ACTLR>() & ~0x40u);
    self.missed_maintenance |= may;
    ++self.left_coherency;
    scheduler.wait();
    self.system.set<reg::ACTLR>(self.system.get<reg::ACTLR>() | 0x40);
}

/// What the guest changes in its own memory it finds at once, unless `keeps_old_code`: the guest's
/// own maintenance is not simulated.
std::uint16_t Simulation::fetch(Core& self, std::uint32_t va, std::uint64_t address) {
    constexpr unsigned ahead = 8; // bytes
    const bool hyps = hypervisor != nullptr && hypervisor->own_memory.contains(address);
    const bool kept_anyway = conditions.keeps_old_code;
    if (scheduler.random().one_in(conditions.code_dropped_one_in)) self.icache.erase(va);
    const auto kept = self.icache.find(va);
    if (kept != self.icache.end() && (hyps || kept->second.hyps || kept_anyway))
        return kept->second.halfword;
    const auto line = self.lines.find(address);
    if (hyps && line != self.lines.end()) return line->second;
    if (hyps && !cleaned.contains(address))
        throw Failure{"the guest executes what Hyp has not cleaned"};
    if (read_ahead.contains(address & ~3ull))
        throw Failure{"the guest executes a line of before Hyp's store"};
    const auto halfword = hyps ? cleaned.at(address) : ram.load<std::uint16_t>(address);
    if (hyps && conditions.code_cached_by_pa) self.lines[address] = halfword;
    if (hyps) self.icache[va] = {halfword, true};
    else if (hypervisor != nullptr && (!hypervisor->breakpoints || kept_anyway))
        for (unsigned n = 0; n < ahead && (va & 0xfff) + n < 0x1000; n += 2)
            self.icache[va + n] = {ram.load<std::uint16_t>(address + n), false};
    return halfword;
}

void Simulation::store_word(void* to, std::uint64_t value, unsigned size) {
    check_coherency();
    point();
    memory.store(core().number, to, value, size);
    if (!in_task()) memory.complete(0);
}

void Simulation::store_pair(void* to, std::uint64_t value) {
    if (scheduler.random().one_in(2)) return store_word(to, value, 8);
    check_coherency();
    point();
    memory.store_halves(core().number, to, value);
}

std::uint64_t Simulation::load_word(const void* from, unsigned size) {
    point();
    return memory.load(core().number, from, size);
}

void Simulation::store_payload(void* to, const void* from, std::size_t size) {
    point();
    for (std::size_t at = 0; at < size; at += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, static_cast<const std::byte*>(from) + at, sizeof word);
        memory.store_payload(core().number, static_cast<std::byte*>(to) + at, word);
    }
    if (!in_task()) memory.complete(0);
}

void Simulation::load_payload(void* to, const void* from, std::size_t size) {
    for (std::size_t at = 0; at < size; at += 4) {
        const std::uint64_t word = load_word(static_cast<const std::byte*>(from) + at, 4);
        std::memcpy(static_cast<std::byte*>(to) + at, &word, 4);
    }
}

bool Simulation::exchange(std::uint32_t* word, std::uint32_t expected, std::uint32_t desired) {
    check_coherency();
    point();
    Core& self = core();
    const bool done = memory.exchange(self.number, word, expected, desired);
    // There is one monitor for Hyp and the guest. A STREX leaves it open; without one, the LDREX
    // has set it for an address that is not the guest's (A3.4.1).
    self.monitor = !done;
    self.monitor_address = hyp_word;
    return done;
}

/// The oldest posted write reaches its device.
void Simulation::arrive(Core& self) {
    if (self.posted.empty()) return;
    BusAccess access = self.posted.front();
    self.posted.pop_front();
    access.time = now();
    bus.carry_out(access);
    if (bus.aborts_late(access.address)) self.abort_pending = true;
}

/// Hyp's, which goes by the caches.
std::uint64_t Simulation::memory_access(const BusAccess& access) {
    std::byte* const at = ram.at({access.address});
    const std::size_t size = std::size_t{1} << access.log2_size;
    std::uint64_t value = access.value;
    if (!access.write) throw Failure{"Hyp loads from the guest's memory as from a device"};
    if (stale_words.contains(access.address & ~3ull))
        throw Failure{"Hyp stores behind a dirty line"};
    std::memcpy(at, &value, size);
    read_ahead.insert(access.address & ~3ull);
    return 0;
}

std::uint64_t Simulation::device_access(const BusAccess& access) {
    Core& self = core();
    if (ram.contains(access.address, 1u << access.log2_size)) return memory_access(access);
    if (!access.write)
        while (!self.posted.empty()) arrive(self);
    if (!access.write || !in_task()) return bus.carry_out(access);
    self.posted.push_back(access);
    return 0;
}

} // namespace mmioscope::sim
