// What a probe's hits do, and how many make no record.
#include "abi/control_check.hpp"
#include "changing/live_tables.hpp"
#include "changing/request_record.hpp"
#include "port/barrier.hpp"
#include "port/wait.hpp"
#include "probes/probes.hpp"
#include "trap/fast_path.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope {

using abi::control::Command;
using abi::control::ProbeAction;

/// What the next probes do. False: there are too many conditions.
bool Probes::stage(const abi::control::Request& r) {
    if (r.command == Command::probe_action) {
        staged_ = Rule{};
        staged_.action = static_cast<ProbeAction>(r.argument[0]);
        staged_.one_in = r.argument[1];
        return true;
    }
    if (staged_.conditions == abi::control::most_conditions) return false;
    Condition& next = staged_.condition[staged_.conditions];
    if (r.command == Command::probe_mask) {
        next.mask = r.argument[1];
    } else {
        next.what = r.argument[0];
        next.value = r.argument[1];
        ++staged_.conditions;
    }
    return true;
}

/// The number of staged_. Empty: there are too many.
std::optional<std::uint8_t> Probes::staged_rule() {
    const auto unused = [&](const Rule& rule) {
        const auto has = [&](const Probe& p) { return &rules_[p.rule] == &rule; };
        return &rule != rules_ && std::ranges::none_of(all(), has);
    };
    Rule* found = std::ranges::find(rules_, staged_);
    if (found == std::end(rules_)) {
        found = std::ranges::find_if(rules_, unused);
        if (found == std::end(rules_)) return std::nullopt;
        *found = staged_; // nobody looks at it: its last probe has let_count()
    }
    return static_cast<std::uint8_t>(found - rules_);
}

void Probes::arm(Machine& machine, std::uint8_t rule, std::uint16_t id) {
    if (!rules_[rule].fires()) return;
    const bool starts = rules_[rule].action == ProbeAction::start;
    const Command as = starts ? Command::trigger_start : Command::trigger_stop;
    choice_.trigger.pattern = {.directions = 0}; // no access
    choice_.trigger.arm(starts, 1, abi::control::change_tag(abi::control::make_request(as, id)));
    choice_.any = true;
    choose_fast_regions(machine);
}

/// False: the guest tries again.
bool Probes::fire(Cpu& cpu) {
    if (!choice_.trigger.armed()) return true;
    if (!begin_quiet(cpu)) return false;
    if (choice_.trigger.fire()) {
        abi::Record notice = choice_.notice();
        cpu.ring.publish_event(notice);
        choice_.any = choice_.filter != Filter{} || choice_.trigger.active();
        choose_fast_regions(*cpu.machine);
    }
    end_quiet(cpu);
    return true;
}

Tally& Probes::tally(const Probe& probe, unsigned cpu) const {
    return tallies_[(number_of(probe) - 1) * cpus_ + cpu];
}

/// A probe has no address any more, or a rule no probe: nobody counts by it when this returns.
void Probes::let_count(const Machine& machine) const {
    port::complete_all();
    for (unsigned n = 0; n < cpus_; ++n) // it waits for nothing meanwhile, unless all CPUs stop
        while (port::load_shared(hits_[n].counts) != 0 && machine.stopped.load() == 0)
            port::relax();
    port::order_memory();
}

/// The hits of a probe at `va` that nobody counts now are told, and its counts are 0.
void Probes::tell(Cpu& cpu, const Probe& probe, std::uint32_t va) const {
    std::uint32_t held = 0, others = 0;
    for (unsigned n = 0; n < cpus_; ++n) {
        Tally& counted = tally(probe, n);
        const std::uint64_t untold = rules_[probe.rule].untold(
            {port::load_shared(counted.met), port::load_shared(counted.others)});
        held += static_cast<std::uint32_t>(untold);
        others += static_cast<std::uint32_t>(untold >> 32);
        port::store_shared(counted.met, 0);
        port::store_shared(counted.others, 0);
    }
    if (held == 0 && others == 0) return;
    abi::Record r = event_record(abi::RecordType::hits, held | std::uint64_t{others} << 32);
    r.pc = va;
    cpu.ring.publish_event(r);
}

/// Its hits are counted from 0 on.
void Probes::set_rule(Cpu& cpu, Probe& probe, std::uint8_t rule) {
    const std::uint32_t va = probe.va;
    port::store_shared(probe.va, no_code);
    let_count(*cpu.machine);
    tell(cpu, probe, va);
    probe.rule = rule;
    port::order_memory();
    port::store_shared(probe.va, va);
}

std::optional<Tally> Probes::hits_of(std::uint32_t va) const {
    for (const Probe& probe : all()) {
        if (!probe.is(calls) || probe.va != va) continue;
        Tally sum{};
        for (unsigned n = 0; n < cpus_; ++n) {
            const Tally& counted = tally(probe, n);
            sum.met += rules_[probe.rule].held(port::load_shared(counted.met));
            sum.others += port::load_shared(counted.others);
        }
        return sum;
    }
    return std::nullopt;
}

void Probes::end(Cpu& cpu, MachineEnd how) {
    if (!on_ || how == MachineEnd::panicked) return;
    for (Probe& probe : all())
        if (probe.rule != 0) set_rule(cpu, probe, probe.rule);
}

/// What those from the start do that are told of next, as the requests that would have said so.
void Probes::record_rule(Cpu& cpu, std::uint8_t number) {
    if (number == std::exchange(told_rule_, number)) return;
    const Rule& rule = rules_[number];
    record_change(cpu, Command::probe_action, static_cast<std::uint32_t>(rule.action), rule.one_in);
    for (unsigned n = 0; n < rule.conditions; ++n) {
        const Condition& c = rule.condition[n];
        if (c.mask != ~0u) record_change(cpu, Command::probe_mask, 0, c.mask);
        record_change(cpu, Command::probe_if, c.what, c.value);
    }
}

namespace {

/// One more hit in `counted`, of those that have `met` the conditions, or not.
void add_hit(Cpu& cpu, const Frame& frame, const Rule& rule, std::uint32_t& counted, bool met) {
    const std::uint32_t now = port::load_shared(counted) + 1;
    port::store_shared(counted, now == Rule::restarts ? 0 : now);
    if (!Rule::tells(now)) return;
    const std::uint64_t untold =
        met ? rule.held(now) - rule.held(now / 2) : std::uint64_t{now - now / 2} << 32;
    if (untold == 0) return;
    abi::Record r = describe_fault(frame, {}, {}, 0, abi::FaultReason::none);
    r.type = abi::RecordType::hits;
    r.value = untold;
    cpu.ring.publish_event(r);
}

} // namespace

/// What becomes of a call. It is counted if it makes no record, or if that is `certain`.
Probes::Verdict Probes::judge(Cpu& cpu, const Frame& frame, const Probe& probe, const Probe& now,
                              bool certain) {
    Verdict verdict = Verdict::again;
    std::uint32_t& counts = hits_[cpu.number].counts;
    port::store_shared(counts, 1);
    port::complete_all(); // either it still is seen to be so here, or let_count() sees this
    if (port::load_shared(probe.va) == now.va && probe.rule == now.rule) {
        port::order_memory(); // not the counts of before set_rule()
        const Rule& rule = rules_[now.rule];
        Tally& hits = tally(probe, cpu.number);
        const bool met = rule.holds(frame),
                   records = met && rule.records(port::load_shared(hits.met));
        verdict = !records ? Verdict::hold : rule.fires() ? Verdict::fire : Verdict::record;
        if (!records || certain) add_hit(cpu, frame, rule, met ? hits.met : hits.others, met);
    }
    port::order_memory();
    port::store_shared(counts, 0);
    return verdict;
}

} // namespace mmioscope
