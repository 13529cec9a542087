// Which probes there are: they come from the start, by requests, and where calls return.
#include "abi/chosen.hpp"
#include "abi/control_check.hpp"
#include "base/check.hpp"
#include "changing/request_record.hpp"
#include "port/memory.hpp"
#include "probes/instruction.hpp"
#include "probes/probes.hpp"
#include "start/setup.hpp"
#include "trap/translate.hpp"

#include <algorithm>

namespace mmioscope {

using abi::control::Command;
using abi::control::ProbeEnd;
using abi::control::Status;

/// The kernel is not there yet: the first fetch from their pages traps.
BootError Probes::add_from_the_start(Machine& machine, const Setup& setup) {
    Cpu& cpu = machine.cpus[0];
    const Tree& tree = setup.tree;
    const int chosen = tree.find("/chosen");
    const Property given = tree.property(chosen, abi::chosen::probes);
    if (given.size % 8 != (given.size == 0 ? 0 : 4))
        return {"mmioscope,probes must have one cell, and two for each probe", ""};
    constexpr std::uint32_t first_address = 16u << 20;
    for (std::size_t n = 1; n < given.size / 4; n += 2) {
        const std::uint32_t first = given.cell(n), second = given.cell(n + 1);
        if (first < first_address) {
            const auto r = abi::control::make_request(static_cast<Command>(first & 0xff), 0,
                                                      first >> 8, second);
            if (!abi::control::is_of_next_probes(r.command) || !abi::control::well_formed(r) ||
                !stage(r))
                return {"mmioscope,probes has a command for the next probes that is not valid", ""};
            continue;
        }
        const Status status = add(cpu, first, (first & ~3u) + given.cell(0), second, true, 0);
        if (status == Status::argument)
            return {"mmioscope,probes: a probe that counts makes no returns", ""};
        const auto why = status == Status::no_probe_here ? ProbeEnd::impossible : ProbeEnd::no_room;
        if (status != Status::done)
            record_change(cpu, Command::unprobe, first & ~3u, static_cast<std::uint32_t>(why));
    }
    const Property loads = tree.property(chosen, abi::chosen::loads_modules);
    if (!loads) return {};
    if (loads.size != 8) return {"mmioscope,loads-modules must have two cells", ""};
    const Probe probe{.va = loads.cell(0),
                      .pa = loads.cell(0) + given.cell(0),
                      .word = loads.cell(1),
                      .flags = loads_modules};
    const bool done =
        can_have_probe(machine, probe.pa, probe.word) && put(cpu, probe, true) == Status::done;
    return done ? BootError{} : BootError{"mmioscope,loads-modules is no function", ""};
}

Status Probes::add(Cpu& cpu, const abi::control::Request& r) {
    const auto found = translate(cpu, privileged, {r.argument[0] & ~3u}, false);
    std::uint32_t there = 0;
    if (!found || !read_guest_memory(*cpu.machine, *found, {&there, 1}) || there != r.argument[1])
        return Status::other_code;
    return add(cpu, r.argument[0], static_cast<std::uint32_t>(found->value), there, false, r.id);
}

/// `address`: with abi::control::returns and frees_code.
Status Probes::add(Cpu& cpu, std::uint32_t address, std::uint32_t pa, std::uint32_t word,
                   bool from_the_start, std::uint16_t id) {
    if (!can_have_probe(*cpu.machine, pa, word)) return Status::no_probe_here;
    const auto rule = staged_rule();
    if (!rule) return Status::no_room;
    Probe wanted{.va = address & ~3u, .pa = pa, .word = word};
    const bool of_call = (address & 3) != abi::control::frees_code;
    wanted.change(0, (address & 3) | (of_call ? calls : 0));
    wanted.rule = of_call ? *rule : 0;
    if (wanted.is(abi::control::returns) &&
        rules_[wanted.rule].action == abi::control::ProbeAction::count)
        return Status::argument;
    const Status status = put(cpu, wanted, from_the_start);
    if (status == Status::done) arm(*cpu.machine, *rule, id);
    return status;
}

bool Probes::can_have_probe(const Machine& machine, std::uint32_t pa, std::uint32_t word) const {
    const Span* const span = machine.span_at({pa});
    return can_be_probed(word) && in_memory(machine.guest_memory, {pa}) &&
           (span == nullptr || pages_.find(pa) != nullptr);
}

std::uint32_t Probes::number_of(const Probe& probe) const {
    return static_cast<std::uint32_t>(&probe - probes_) + 1;
}

/// That of the instruction at `pa`.
Probes::Probe* Probes::find(std::uint32_t pa) const {
    const Page* const page = pages_.find(pa);
    const std::uint32_t word = page != nullptr ? pages_.word(*page, pa) : 0,
                        number = immediate_of(word);
    if (!is_hvc(word) || number - 1 >= used_) return nullptr; // 0, too
    Probe& probe = probes_[number - 1];
    return probe.va != no_code && probe.pa == pa ? &probe : nullptr;
}

/// `wanted` is there, beside what is wanted of this instruction already. Otherwise nothing has
/// changed. `from_the_start`: a page has no copy before its first fetch.
Status Probes::put(Cpu& cpu, Probe wanted, bool from_the_start) {
    const bool carried_out = wanted.of != 0 && is_carried_out(wanted.word);
    wanted.change(0, is_plain(wanted.word) && !carried_out ? plain : 0);
    if (Probe* const probe = find(wanted.pa)) {
        if (wanted.of != 0) probe->of = wanted.of;
        probe->change(wanted.is(calls) ? abi::control::returns : 0, wanted.flags);
        if (wanted.is(calls) && probe->rule != wanted.rule) set_rule(cpu, *probe, wanted.rule);
        modules_ |= wanted.is(abi::control::frees_code);
        return Status::done;
    }
    Page* page = pages_.find(wanted.pa);
    if (page != nullptr) pages_.hide(*page);
    else page = pages_.take(wanted.pa, from_the_start);
    if (page == nullptr) return Status::no_room;
    // Only now no CPU can write there.
    const bool same = page->waits || pages_.word(*page, wanted.pa) == wanted.word;
    while (free_ < used_ && probes_[free_].va != no_code) ++free_;
    const bool room = free_ < most;
    if (same && room) {
        used_ = std::max(used_, free_ + 1);
        Probe& probe = probes_[free_];
        for (unsigned n = 0; n < cpus_; ++n) tally(probe, n) = {};
        probe = wanted;
        modules_ |= wanted.is(abi::control::frees_code);
        ++page->probes;
        pages_.set(*page, probe.pa, hvc(number_of(probe)));
    }
    pages_.settle(*page);
    return !same ? Status::other_code : room ? Status::done : Status::no_room;
}

void Probes::take_away(Probe& probe) {
    Page* const page = pages_.find(probe.pa);
    check(page != nullptr, "a probe has no page");
    pages_.hide(*page); // no CPU executes a word while it changes (A3.5.4)
    if (probe.of != 0) forget_site(probe);
    if (probe.is(abi::control::frees_code)) modules_ = false;
    port::store_shared(probe.va, no_code);
    free_ = std::min<unsigned>(free_, number_of(probe) - 1);
    --page->probes;
    pages_.renew(*page, probe.pa);
    pages_.settle(*page);
}

/// Nobody's returns are recorded there any more.
void Probes::forget_site(Probe& site) {
    for (Probe& function : all())
        if (function.site == site.va) function.site = 0;
    site.of = 0;
}

/// The function's returns are no longer wanted. The next call of another one sets a probe again
/// where it needs one.
void Probes::forget_returns(Probe& function) {
    if (!function.is(abi::control::returns)) return;
    function.change(abi::control::returns, 0);
    for (Probe& site : all()) {
        if (site.of != number_of(function)) continue;
        if (site.asked()) forget_site(site);
        else take_away(site);
    }
}

std::optional<Status> Probes::change(Cpu& cpu, const abi::control::Request& r) {
    const std::uint32_t va = r.argument[0];
    if (r.command == Command::probe) return add(cpu, r);
    if (abi::control::is_of_next_probes(r.command))
        return stage(r) ? Status::done : Status::argument;
    if (va == 0) return end_all(cpu) ? std::optional(Status::done) : std::nullopt;
    Status status = Status::not_probed;
    for (Probe& probe : all()) {
        if (!probe.is(calls) || probe.va != va) continue;
        status = Status::done;
        if (probe.of != 0 || probe.is(abi::control::frees_code | loads_modules)) {
            forget_returns(probe);
            probe.change(calls, 0);
            set_rule(cpu, probe, 0);
        } else {
            end(cpu, probe, ProbeEnd::request);
        }
    }
    return status;
}

/// All CPUs wait meanwhile, so it ends some at a time. False: there are more.
bool Probes::end_all(Cpu& cpu) {
    for (Probe& probe : all()) { // nobody needs to look for those of its returns
        probe.change(abi::control::returns, 0);
        probe.of = 0;
        probe.site = 0;
    }
    unsigned left = 256;
    for (Probe& probe : all()) {
        if (left-- == 0) return false;
        end(cpu, probe, ProbeEnd::request);
    }
    return true;
}

/// A request has a record of its own. Those of returns come back with the next call.
void Probes::end(Cpu& cpu, Probe& probe, ProbeEnd why) {
    const Probe was = probe;
    forget_returns(probe);
    take_away(probe);
    if (was.rule != 0) {
        let_count(*cpu.machine);
        tell(cpu, probe, was.va);
    }
    if (was.asked() && why != ProbeEnd::request)
        record_change(cpu, Command::unprobe, was.va, static_cast<std::uint32_t>(why));
}

void Probes::end_all_on(Cpu& cpu, const Page& page, ProbeEnd why) {
    for (Probe& probe : all())
        if (page_floor(probe.pa) == page.pa) end(cpu, probe, why);
}

/// The kernel begins to execute the page.
void Probes::begin_all_on(Cpu& cpu, Page& page) {
    pages_.hide(page);
    pages_.copy(page);
    for (Probe& probe : all()) {
        if (page_floor(probe.pa) != page.pa) continue;
        if (pages_.word(page, probe.pa) != probe.word) {
            probe.change(0, other_code);
            continue;
        }
        pages_.set(page, probe.pa, hvc(number_of(probe)));
        if (!probe.is(calls | abi::control::frees_code)) continue;
        record_rule(cpu, probe.rule);
        record_change(cpu, Command::probe, probe.va | (probe.flags & 3), probe.word);
    }
    pages_.settle(page);
    for (Probe& probe : all())
        if (probe.is(other_code)) end(cpu, probe, ProbeEnd::other_code);
}

} // namespace mmioscope
