#include "control/control.hpp"

#include "abi/control_check.hpp"
#include "black_box/black_box.hpp"
#include "changing/live_tables.hpp"
#include "changing/request_record.hpp"
#include "control/selection.hpp"
#include "control/settings.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "trap/fast_path.hpp"

namespace mmioscope {

namespace {

using abi::control::Command;
using abi::control::is_change;
using abi::control::is_marker;
using abi::control::Reply;
using abi::control::Request;
using abi::control::Status;

bool is_selection(Command command) {
    return command >= Command::start && command <= Command::deselect_range;
}
/// Whether less is traced after the command than before.
bool ends_tracing(Command command) {
    return command == Command::stop || command == Command::deselect ||
           command == Command::deselect_range || command == Command::unwatch ||
           command == Command::pages_off;
}

Which which_of(const Request& r) {
    const std::uint64_t begin = r.argument[0];
    switch (r.command) {
    case Command::select:
    case Command::deselect: return {.region = r.argument[0]};
    case Command::select_range:
    case Command::deselect_range: return {.range = {begin, begin + r.argument[1]}};
    default: return {};
    }
}

/// Whether the command accepts these arguments on this machine.
bool well_formed_here(const Machine& machine, const Request& r) {
    if (r.command != Command::statistic) return well_formed(r);
    return r.argument[0] < sizeof(abi::Statistics) / 8 && r.argument[1] < machine.cpu_count;
}

/// False: another CPU holds Machine::changes.
bool take_snapshot(Cpu& cpu) {
    Machine& machine = *cpu.machine;
    constexpr unsigned max_turns = 2000;
    if (!machine.changes.try_acquire(cpu.number, max_turns, cpu.ring.statistics().lock_spins))
        return false;
    keep_snapshot(machine);
    machine.changes.release();
    return true;
}

} // namespace

// Before the guest's first instruction no other CPU has translations that a broadcast might miss:
// each empties its TLB itself when it starts (mm/guest_view.hpp, start).
Status Control::check_request(const Machine& machine, const Request& r, When when) const {
    const bool early = when == When::before_first_instruction;
    if (r.check != abi::control::check_of(r)) return Status::damaged;
    if (r.version != abi::control::version) return Status::other_version;
    if (early)
        if (const Status status = abi::control::check_early(r); status != Status::done)
            return status;
    if (r.command > abi::control::last_command) return Status::unknown;
    if (r.command == Command::hello && !stream_.active()) return Status::unavailable;
    if (abi::control::is_probe(r.command) && !probes_.on()) return Status::unavailable;
    if (abi::control::is_watch(r.command) && !watched_.on()) return Status::unavailable;
    if (abi::control::is_of_pages(r.command) && !moving_.on()) return Status::unavailable;
    if (!well_formed_here(machine, r)) return Status::argument;
    if (r.command == Command::snapshot && (!can_keep(machine) || stream_.sends_kept()))
        return Status::unavailable;
    if (!is_change(r.command)) return Status::done;
    if (machine.config.engine == abi::EngineKind::unprotect) return Status::engine;
    const bool live = abi::control::is_probe(r.command) || abi::control::is_watch(r.command) ||
                      abi::control::is_of_pages(r.command);
    if (!is_selection(r.command) && !live) return setting_possible(machine, r);
    if (!early && machine.broadcast_fails.load(std::memory_order_relaxed) != 0)
        return Status::erratum;
    if (live) return Status::done;
    return can_change(machine, which_of(r));
}

void Control::change_selection(Machine& machine, const Request& r) {
    if (r.command == Command::start || r.command == Command::stop)
        stopped_ = r.command == Command::stop;
    else mark_selected(machine, integrity_, which_of(r), !ends_tracing(r.command));
    apply_selection(machine, integrity_, stopped_);
    watched_.set_traced(!stopped_);
}

/// The caller holds all locks, so no access is in flight. Only what probes or watches is refused as
/// late as here. Empty: a part is done.
std::optional<Status> Control::change(Cpu& cpu, const Request& r) {
    Machine& machine = *cpu.machine;
    if (ends_tracing(r.command)) record_request(cpu, r);
    std::optional<Status> status = Status::done;
    if (abi::control::is_probe(r.command)) status = probes_.change(cpu, r);
    else if (abi::control::is_watch(r.command)) status = watched_.change(machine, r);
    else if (abi::control::is_of_pages(r.command)) pages_stay_ = r.command == Command::pages_off;
    else if (is_selection(r.command)) change_selection(machine, r);
    else change_setting(machine, choice_, r);
    moving_.set_moving(machine, !stopped_ && !pages_stay_);
    choose_fast_regions(machine);
    if (!ends_tracing(r.command) && status == Status::done) record_request(cpu, r);
    return status;
}

void Control::tell(Cpu& cpu, const Request& r, Reply& reply) {
    std::uint32_t(&value)[2] = reply.value;
    Machine& machine = *cpu.machine;
    if (r.command == Command::describe) {
        value[0] = static_cast<std::uint32_t>(machine.regions.size());
        value[1] = machine.cpu_count | (stopped_ ? 0 : 1u << 8);
    } else if (r.command == Command::statistic) {
        const std::uint64_t word = machine.cpus[r.argument[1]].ring.statistic(r.argument[0]);
        value[0] = static_cast<std::uint32_t>(word);
        value[1] = static_cast<std::uint32_t>(word >> 32);
    } else if (r.command == Command::probe_hits) {
        if (const auto hits = probes_.hits_of(r.argument[0])) {
            value[0] = hits->met;
            value[1] = hits->others;
        } else {
            reply.status = Status::not_probed;
        }
    } else if (r.command == Command::flush) {
        port::complete_system();
        stream_.flush();
    } else if (r.command == Command::hello) {
        stream_.repeat_hello();
    } else {
        record_request(cpu, r, abi::RecordType::marker);
    }
}

/// False: other CPUs are in the way, or a part is done.
bool Control::carry_out(Cpu& cpu, const Request& r, Reply& reply) {
    if (is_change(r.command)) {
        if (!begin_quiet(cpu)) return false;
        const auto status = change(cpu, r);
        end_quiet(cpu);
        reply.status = status.value_or(Status::done);
        return status.has_value();
    }
    if (r.command == Command::snapshot) return take_snapshot(cpu);
    tell(cpu, r, reply);
    return true;
}

std::optional<Reply> Control::execute(Cpu& cpu, const Request& request, When when) {
    Reply reply{
        abi::control::version, check_request(*cpu.machine, request, when), request.id, {}, 0};
    const bool records = is_change(request.command) || is_marker(request.command);
    if (reply.status == Status::done && records && !cpu.ring.has_room(1))
        reply.status = Status::no_room;
    if (reply.status == Status::done && !carry_out(cpu, request, reply)) return std::nullopt;
    reply.check = abi::control::check_of(reply);
    return reply;
}

std::optional<Reply> Control::serve(Cpu& cpu, const Request& request) {
    const auto reply = execute(cpu, request);
    const bool carried_out = reply && reply->status == Status::done;
    if (carried_out && !is_marker(request.command)) integrity_.check_behind_request(*cpu.machine);
    return reply;
}

} // namespace mmioscope
