#include "engine/engine.hpp"

#include "arch/psr.hpp"
#include "engine/record.hpp"
#include "engine/service.hpp"
#include "engine/waiting.hpp"
#include "guest/exception.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

namespace {

/// Adds the regions that the access reaches.
void add_regions(const Step& step, RegionSet& regions) {
    const DeviceAccess& access = step.access;
    regions.add(access.span->region);
    if (access.beyond != 0) regions.add(access.last_region);
    for (unsigned n = 0; access.listed && n < access.beats; ++n)
        if (step.beats[n].span != nullptr) regions.add(step.beats[n].span->region);
}

/// Whether the access reaches a traced device.
bool reaches_traced(const RegionMap& map, const Step& step) {
    const DeviceAccess& access = step.access;
    for (unsigned n = 0; access.listed && n < access.beats; ++n)
        if (step.beats[n].span != nullptr && step.beats[n].span->traced()) return true;
    if (access.listed) return false;
    return access.span->traced() ||
           (access.beyond != 0 &&
            map.any_traced({access.pa.value, access.pa.value + access.beyond}));
}

/// If only the first byte of a store is known, it may go to any block.
void count_unknown_stores(Cpu& cpu, const DeviceAccess& access) {
    for (unsigned block = 0; block < store_blocks; ++block) {
        cpu.locks.count_store(access.span->region, {8 * block});
        if (access.last_region != access.span->region)
            cpu.locks.count_store(access.last_region, {8 * block});
    }
}

/// Counts the stores, for later store-exclusives of any CPU.
void count_stores(Cpu& cpu, const DeviceAccess& access) {
    if (!access.decoded) return count_unknown_stores(cpu, access);
    if (!access.listed) {
        cpu.locks.count_store(access.span->region, access.pa);
        const PhysicalAddress last = access.pa + ((1u << access.log2_size) - 1);
        if (last.value / 8 != access.pa.value / 8) cpu.locks.count_store(access.last_region, last);
        return;
    }
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat& beat = cpu.step.beats[n];
        if (beat.write && beat.span != nullptr) cpu.locks.count_store(beat.span->region, beat.pa);
    }
}

/// Whether the chooser may count one of the accesses, as far as known before they are made.
bool may_be_counted(const Chooser& chooser, const Step& step) {
    const DeviceAccess& access = step.access;
    if (!access.decoded) return chooser.may_count(0, 0);
    const unsigned size = 1u << access.log2_size;
    if (!access.listed) return chooser.may_count(access.pa.value, size);
    for (unsigned n = 0; n < access.beats; ++n)
        if (chooser.may_count(step.beats[n].pa.value, size)) return true;
    return false;
}

/// Whether, under `stall`, the ring has no room for the access's records.
bool must_wait(Cpu& cpu, const DeviceAccess& access) {
    return access.recorded && cpu.ring.stalls() && !cpu.ring.has_room(room_needed(cpu, access));
}

} // namespace

// If the store-exclusive had to wait, Hyp would clear the guest's monitor meanwhile, the store
// would fail, and the next load would take the room.
std::uint64_t room_needed(const Cpu& cpu, const DeviceAccess& access) {
    const std::uint64_t records = access.beats + (cpu.machine->config.pre ? 1 : 0);
    return access.exclusive && !access.write ? 2 * records : records;
}

bool take_locks(Cpu& cpu, const Frame& frame) {
    DeviceAccess& access = cpu.step.access;
    abi::Statistics& statistics = cpu.ring.statistics();
    const Chooser* chooser = cpu.machine->chooser;
    RegionSet regions;
    add_regions(cpu.step, regions);
    const auto may_count = [&] { return chooses(chooser) && may_be_counted(*chooser, cpu.step); };
    const bool counted = may_count();
    if (counted) regions.add(choice_lock);
    if (cpu.locks.acquire(cpu.machine->locks, regions, cpu.number, statistics.lock_spins)) {
        cpu.lock_wait.end(regions);
        // A change of its holder counts as progress (LockHolder::sequence).
        if (counted) cpu.locks.next_sequence(choice_lock);
        // A trigger that was armed meanwhile needs the lock; one that has fired needs it no longer.
        const bool enough = counted || !may_count();
        // What is traced cannot change under the locks.
        access.recorded = reaches_traced(cpu.machine->map, cpu.step);
        if (enough && !must_wait(cpu, access)) return true;
        cpu.locks.release();
    } else {
        tell_of_wait(cpu, frame, access);
    }
    ++statistics.retries;
    return false;
}

bool must_be_unprivileged(const Cpu& cpu, const Frame& frame) {
    return arch::mode_of(frame.psr) == arch::Mode::usr && cpu.machine->config.user_firewall;
}

void count_access(Cpu& cpu) {
    const DeviceAccess& access = cpu.step.access;
    if (!access.recorded) ++cpu.ring.statistics().unselected;
    if (access.write) count_stores(cpu, access);
}

void put_in_flight(Cpu& cpu) {
    const DeviceAccess& access = cpu.step.access;
    abi::Record& record = cpu.step.record;
    record.time = cpu.ring.begin(record.pc, access.pa.value);
    if (!cpu.machine->config.pre || !access.recorded) return;
    abi::Record begin = record;
    begin.type = abi::RecordType::begin;
    if (access.listed) begin.lock_sequence = cpu.locks.upcoming_sequence(record.device);
    if (access.listed || !access.write) begin.flags |= abi::flag_value_unknown;
    cpu.ring.announce(begin, access.listed);
    port::complete_system(); // it has left this CPU before the access does
}

Outcome hand_on_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const DeviceAccess& access = cpu.step.access;
    abi::Record& record = cpu.step.record;
    record.type = abi::RecordType::fault;
    record.value = abi::fault_value(abi::FaultReason::external_abort);
    inject_data_abort(frame, access.va, access.write, answered_by(hsr));
    return Outcome::taken;
}

void publish_if_last(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.step.access;
    abi::Record& record = cpu.step.record;
    if (!access.ends_machine) return;
    if (access.recorded) {
        record.flags |= abi::flag_early;
        if (access.listed) publish_beats(cpu, frame);
        else cpu.ring.publish(record);
        cpu.ring.finish();
        port::complete_system();
    }
    end_services(cpu, access.resets_machine ? MachineEnd::reset : MachineEnd::off);
    cpu.turn_given = false; // once more behind the access, where the stream waits for the end
}

} // namespace mmioscope
