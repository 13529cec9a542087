#include "probes/probes.hpp"

#include "abi/chosen.hpp"
#include "abi/control_check.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "guest/exception.hpp"
#include "machine/stepping.hpp"
#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"
#include "probes/instruction.hpp"
#include "start/setup.hpp"
#include "trap/fast_path.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope {

using abi::control::Command;
using abi::control::ProbeAction;
using abi::control::ProbeEnd;
using abi::control::Status;

namespace {

/// HVC (A8.8.68); its immediate is in bits 19:8 and 3:0.
constexpr std::uint32_t hvc(std::uint32_t immediate) {
    return 0xe140'0070 | (immediate & 0xfff0) << 4 | (immediate & 0xf);
}
constexpr bool is_hvc(std::uint32_t word) {
    return (word & 0xfff0'00f0) == 0xe140'0070;
}
constexpr std::uint32_t immediate_of(std::uint32_t hvc) {
    return (hvc >> 4 & 0xfff0) | (hvc & 0xf);
}

/// As PL1 sees it, whatever the mode in which this CPU has trapped.
constexpr Frame privileged{
    .r = {}, .lr_usr = 0, .pc = 0, .psr = static_cast<std::uint32_t>(arch::Mode::svc)};

/// A record of what a request might have asked for.
void record_change(Cpu& cpu, Command command, std::uint32_t first, std::uint32_t second) {
    abi::Record record =
        event_record(abi::RecordType::configuration, first | std::uint64_t{second} << 32,
                     static_cast<std::uint32_t>(command));
    cpu.ring.publish_event(record);
}

} // namespace

BootError Probes::configure(Machine& machine, Setup& setup) {
    on_ = setup.tree.has(setup.tree.find("/chosen"), abi::chosen::probes);
    if (!on_) return {};
    machine.memory = MemoryOf::all_cpus;
    for (CallEntry& entry : machine.calls)
        if (entry.by == psci::Conduit::hvc && entry.immediate == 0)
            next_ = std::exchange(entry.ops, this);
    const bool room = next_ != nullptr || machine.calls.push_back({psci::Conduit::hvc, 0, this});
    return room ? BootError{} : BootError{"no room for the calls of probes", ""};
}

/// Between the hypervisor's stacks and the place for a boot tree lies memory that nobody uses.
bool Probes::add_to_tables(Machine& machine) {
    if (!on_) return true;
    room_ = {page_ceil(machine.image.stacks.end), machine.image.text.begin + abi::boot_tree_offset};
    lpae::Descriptor* const root = machine.pool.take();
    if (root == nullptr) return false;
    machine.has_original = true;
    View& original = machine.original() = View(root);
    original.share(machine.normal(0), machine.pool);
    for (const Range& range : machine.guest_memory)
        if (!original.split(range, machine.pool, lpae::first_level + 1)) return false;
    const std::uint64_t mailbox = machine.image.text.begin + abi::control_page_offset;
    return machine.hyp_table.map(room_, lpae::hyp_data, machine.pool) &&
           machine.hyp_table.map({mailbox, mailbox + page_size}, lpae::hyp_shared, machine.pool);
}

BootError Probes::start(Machine& machine, const Setup& setup) {
    if (!on_) return {};
    constexpr unsigned fewest_tables = 8;
    if (auto e = LiveTables::objection(machine, fewest_tables)) return e;
    if (setup.boot_tree.overlaps(room_))
        return {"the device tree lies where probes need room: load it elsewhere", ""};
    cpus_ = machine.cpu_count;
    probes_ = port::memory_at<Probe>({room_.begin});
    room_.begin += most * sizeof(Probe);
    tallies_ = port::memory_at<Tally>({room_.begin});
    room_.begin = page_ceil(room_.begin + std::uint64_t{most} * cpus_ * sizeof(Tally));
    if (auto e = pages_.start(machine, *this, room_)) return e;
    mailbox_ = port::memory_at<abi::control::Mailbox>(
        {machine.image.text.begin + abi::control_page_offset});
    *mailbox_ = {};
    return add_from_the_start(machine, setup);
}

/// The kernel is not there yet: the first fetch from their pages traps.
BootError Probes::add_from_the_start(Machine& machine, const Setup& setup) {
    Cpu& cpu = machine.cpus[0];
    const Tree& tree = setup.tree;
    const Property given = tree.property(tree.find("/chosen"), abi::chosen::probes);
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
        Probe probe = asked(first, given.cell(0), second);
        const auto rule = staged_rule(machine);
        if (probe.entry) probe.rule = rule.value_or(0);
        if (!fits(probe)) return {"mmioscope,probes: a probe that counts makes no returns", ""};
        const bool possible =
            can_be_probed(probe.word) && in_memory(machine.guest_memory, {probe.pa});
        if (possible && rule && put(cpu, probe, true) == Status::done) {
            arm(machine, *rule, 0);
        } else {
            const auto why = possible ? ProbeEnd::no_room : ProbeEnd::impossible;
            record_change(cpu, Command::unprobe, probe.va, static_cast<std::uint32_t>(why));
        }
    }
    const Property loads = tree.property(tree.find("/chosen"), abi::chosen::loads_modules);
    if (loads.size != 8)
        return loads ? BootError{"mmioscope,loads-modules must have two cells", ""} : BootError{};
    Probe probe = asked(loads.cell(0), given.cell(0), loads.cell(1));
    probe.entry = false;
    probe.loads_modules = true;
    const bool possible = can_be_probed(probe.word) && in_memory(machine.guest_memory, {probe.pa});
    return possible && put(cpu, probe, true) == Status::done
               ? BootError{}
               : BootError{"mmioscope,loads-modules is no function", ""};
}

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
std::optional<std::uint8_t> Probes::staged_rule(const Machine& machine) {
    const auto unused = [&](const Rule& rule) {
        const auto has = [&](const Probe& p) {
            return p.va != no_code && &rules_[p.rule] == &rule;
        };
        return &rule != rules_ && std::ranges::none_of(all(), has);
    };
    Rule* found = std::ranges::find(rules_, staged_);
    if (found == std::end(rules_)) {
        found = std::ranges::find_if(rules_, unused);
        if (found == std::end(rules_)) return std::nullopt;
        let_count(machine); // nobody looks at it any more
        *found = staged_;
    }
    return static_cast<std::uint8_t>(found - rules_);
}

/// What makes no record, has no returns with one.
bool Probes::fits(const Probe& probe) const {
    return !probe.returns || rules_[probe.rule].action != ProbeAction::count;
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
    const auto meant = [va](const Probe& probe) { return probe.entry && probe.va == va; };
    const auto found = std::ranges::find_if(all(), meant);
    if (found == all().end()) return std::nullopt;
    Tally sum{};
    for (unsigned n = 0; n < cpus_; ++n) {
        const Tally& counted = tally(*found, n);
        sum.met += rules_[found->rule].held(port::load_shared(counted.met));
        sum.others += port::load_shared(counted.others);
    }
    return sum;
}

void Probes::end(Cpu& cpu, MachineEnd how) {
    if (!on_ || how == MachineEnd::panicked) return;
    for (Probe& probe : all())
        if (probe.va != no_code && probe.rule != 0) set_rule(cpu, probe, probe.rule);
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

Probes::Page& Probes::page_of(const Probe& probe) {
    Page* const page = pages_.find(probe.pa);
    check(page != nullptr, "a probe has no page");
    return *page;
}

bool Probes::is_on(const Probe& probe, const Page& page) {
    return probe.va != no_code && page_floor(probe.pa) == page.pa;
}

std::uint32_t Probes::number_of(const Probe& probe) const {
    return static_cast<std::uint32_t>(&probe - probes_) + 1;
}

/// That of the instruction at `pa`, which is on `page`.
Probes::Probe* Probes::find(const Page& page, std::uint32_t pa) const {
    const std::uint32_t word = pages_.word(page, pa), number = immediate_of(word);
    if (!is_hvc(word) || number - 1 >= used_) return nullptr; // 0, too
    Probe& probe = probes_[number - 1];
    return probe.va != no_code && probe.pa == pa ? &probe : nullptr;
}

/// Of a request or a property. `offset`: from its virtual address to the physical one.
Probes::Probe Probes::asked(std::uint32_t address, std::uint32_t offset, std::uint32_t word) {
    const std::uint32_t va = address & ~3u;
    const bool returns = (address & abi::control::returns) != 0;
    const bool frees_code = (address & abi::control::frees_code) != 0;
    return {.va = va,
            .pa = va + offset,
            .word = word,
            .entry = returns || !frees_code,
            .returns = returns,
            .frees_code = frees_code};
}

/// `wanted` is there, beside what is wanted of this instruction already. Otherwise nothing has
/// changed. `from_the_start`: a page has no copy before its first fetch.
Status Probes::put(Cpu& cpu, const Probe& wanted, bool from_the_start) {
    Page* page = pages_.find(wanted.pa);
    Probe* probe = page != nullptr ? find(*page, wanted.pa) : nullptr;
    if (probe != nullptr) {
        if (wanted.of != 0) probe->of = wanted.of;
        if (wanted.entry) {
            probe->returns = wanted.returns;
            if (probe->rule != wanted.rule) set_rule(cpu, *probe, wanted.rule);
        }
        probe->entry |= wanted.entry;
        probe->frees_code |= wanted.frees_code;
        probe->loads_modules |= wanted.loads_modules;
        modules_ |= wanted.frees_code;
        return Status::done;
    }
    if (page != nullptr) {
        pages_.hide(*page);
    } else {
        page = pages_.take(wanted.pa);
        if (page == nullptr) return Status::no_room;
        page->waits = from_the_start;
        if (from_the_start) pages_.clear(*page);
        else pages_.copy(*page);
    }
    // Only now no CPU can write there.
    const bool same = page->waits || pages_.word(*page, wanted.pa) == wanted.word;
    while (free_ < used_ && probes_[free_].va != no_code) ++free_;
    const bool room = free_ < most;
    if (same && room) {
        probe = &probes_[free_];
        used_ = std::max(used_, free_ + 1);
        for (unsigned n = 0; n < cpus_; ++n) tally(*probe, n) = {};
        *probe = wanted;
        probe->plain = is_plain(probe->word);
        modules_ |= wanted.frees_code;
        ++page->probes;
        pages_.set(*page, probe->pa, hvc(number_of(*probe)));
    }
    settle(*page);
    return !same ? Status::other_code : room ? Status::done : Status::no_room;
}

Status Probes::add(Cpu& cpu, const abi::control::Request& r) {
    Machine& machine = *cpu.machine;
    const std::uint32_t va = r.argument[0] & ~3u, word = r.argument[1];
    const auto found = translate(privileged, {va});
    std::uint32_t there = 0;
    if (!found || !read_guest_memory(machine, *found, {&there, 1}) || there != word)
        return Status::other_code;
    const auto pa = static_cast<std::uint32_t>(found->value);
    if (!can_have_probe(machine, pa, word)) return Status::no_probe_here;
    const auto rule = staged_rule(machine);
    if (!rule) return Status::no_room;
    Probe wanted = asked(r.argument[0], pa - va, word);
    if (wanted.entry) wanted.rule = *rule;
    if (!fits(wanted)) return Status::argument;
    const Status status = put(cpu, wanted, false);
    if (status == Status::done) arm(machine, *rule, r.id);
    return status;
}

bool Probes::can_have_probe(const Machine& machine, std::uint32_t pa, std::uint32_t word) {
    return can_be_probed(word) && (machine.span_at({pa}) == nullptr || pages_.find(pa) != nullptr);
}

/// Its page is hidden, and stays so until settle().
void Probes::remove(Cpu& cpu, Page& page, Probe& probe) {
    const std::uint32_t va = probe.va;
    forget_returns(&page, probe);
    take_away(page, probe);
    if (probe.rule == 0) return;
    let_count(*cpu.machine);
    tell(cpu, probe, va);
}

void Probes::take_away(Page& page, Probe& probe) {
    if (probe.of != 0) forget_site(probe);
    if (probe.frees_code) modules_ = false;
    port::store_shared(probe.va, no_code);
    free_ = std::min<unsigned>(free_, number_of(probe) - 1);
    --page.probes;
    pages_.renew(page, probe.pa);
}

/// Nobody's returns are recorded there any more.
void Probes::forget_site(Probe& site) {
    for (Probe& function : all())
        if (function.site == site.va) function.site = 0;
    site.of = 0;
}

/// The function's returns are no longer wanted. The next call of another one sets a probe again
/// where it needs one. `hidden`: a page that is so anyway.
void Probes::forget_returns(const Page* hidden, Probe& function) {
    if (!function.returns) return;
    function.returns = false;
    for (Probe& site : all()) {
        if (site.va == no_code || site.of != number_of(function)) continue;
        forget_site(site);
        if (site.asked()) continue;
        Page& page = page_of(site);
        if (&page != hidden) pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
        take_away(page, site);
        if (&page != hidden) settle(page);
    }
}

void Probes::settle(Page& page) {
    if (page.probes == 0) pages_.give_back(page);
    else if (page.waits) pages_.show_as_data(page);
    else pages_.show(page);
}

Status Probes::change(Cpu& cpu, const abi::control::Request& r) {
    const std::uint32_t va = r.argument[0];
    if (r.command == Command::probe) return add(cpu, r);
    if (abi::control::is_of_next_probes(r.command))
        return stage(r) ? Status::done : Status::argument;
    bool found = va == 0;
    for (Probe& probe : all()) {
        const bool meant = va == 0 ? probe.va != no_code : probe.entry && probe.va == va;
        if (!meant) continue;
        found = true;
        if (va != 0 && (probe.of != 0 || probe.frees_code || probe.loads_modules)) {
            forget_returns(nullptr, probe);
            probe.entry = false;
            set_rule(cpu, probe, 0);
        } else {
            remove_alone(cpu, probe);
        }
    }
    return found ? Status::done : Status::not_probed;
}

void Probes::remove_alone(Cpu& cpu, Probe& probe) {
    Page& page = page_of(probe);
    pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
    remove(cpu, page, probe);
    settle(page);
}

/// The kernel begins to execute the page.
void Probes::begin_all_on(Cpu& cpu, Page& page) {
    pages_.hide(page);
    pages_.copy(page);
    for (Probe& probe : all()) {
        if (!is_on(probe, page)) continue;
        if (pages_.word(page, probe.pa) == probe.word) {
            pages_.set(page, probe.pa, hvc(number_of(probe)));
            const std::uint32_t with = (probe.returns ? abi::control::returns : 0) |
                                       (probe.frees_code ? abi::control::frees_code : 0);
            if (probe.of != 0 || probe.loads_modules) continue;
            record_rule(cpu, probe.rule);
            record_change(cpu, Command::probe, probe.va | with, probe.word);
        } else {
            end(cpu, page, probe, ProbeEnd::other_code);
        }
    }
    settle(page);
}

void Probes::end(Cpu& cpu, Page& page, Probe& probe, ProbeEnd why) {
    const std::uint32_t va = probe.va;
    remove(cpu, page, probe);
    // Those of returns come back with the next call.
    if (probe.asked()) record_change(cpu, Command::unprobe, va, static_cast<std::uint32_t>(why));
}

void Probes::end_alone(Cpu& cpu, Probe& probe, ProbeEnd why) {
    Page& page = page_of(probe);
    pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
    end(cpu, page, probe, why);
    settle(page);
}

void Probes::end_all_on(Cpu& cpu, Page& page, ProbeEnd why) {
    pages_.hide(page); // no CPU executes a word while it changes (A3.5.4)
    for (Probe& probe : all())
        if (is_on(probe, page)) end(cpu, page, probe, why);
    settle(page);
}

/// Whether its HVC is that at PC. Code that the guest has mapped elsewhere, too, is the same code.
bool Probes::is_at(const Probe& probe, const Frame& frame) {
    const std::uint32_t va = port::load_shared(probe.va);
    if (va == frame.pc) return true;
    if (va == no_code || (va - frame.pc) % page_size != 0) return false;
    const auto pa = translate(frame, {frame.pc});
    return pa && pa->value == probe.pa;
}

Outcome Probes::call(Cpu& cpu, Frame& frame) {
    const std::uint32_t immediate = arch::Hsr(port::read<reg::HSR>()).immediate();
    if (immediate - 1 < used_) { // not 0
        Probe& probe = probes_[immediate - 1];
        // Another CPU may take it away, and set another one in its place. First what it is, then
        // whether it still is.
        const Probe now = probe;
        port::order_memory();
        if (is_at(probe, frame)) return hit(cpu, frame, probe, now);
    }
    // If it is not the guest's own, another CPU has taken the probe away since it was fetched.
    if (immediate != 0 && !in_thumb(frame) &&
        !is_hvc(fetch_instruction(frame, *cpu.machine).value_or(0))) {
        forget_instructions();
        return Outcome::again;
    }
    if (next_ != nullptr) return next_->call(cpu, frame);
    inject_undefined(frame);
    return Outcome::taken;
}

/// The guest then executes the instruction itself, if Hyp does not.
Outcome Probes::hit(Cpu& cpu, Frame& frame, Probe& probe, const Probe& now) {
    Hit& last = hits_[cpu.number];
    const bool has_record = last.recorded == frame.pc && last.sp == guest_register(frame, 13);
    if (!has_record && !record(cpu, frame, probe, now)) return Outcome::again;
    last.recorded = 0;
    if (!now.plain && carry_out(frame, now.word)) return Outcome::again;
    const auto next = now.plain ? frame.pc + 4 : next_of(*cpu.machine, frame, now.word);
    if (!next) {
        give_up(cpu, frame, ProbeEnd::impossible);
        return Outcome::again;
    }
    last.stepped = frame.pc;
    cpu.step.ops = this;
    step_in(cpu, frame, cpu.machine->original(), *next);
    forget_instructions();
    return Outcome::again;
}

/// False: the guest tries again.
bool Probes::record(Cpu& cpu, const Frame& frame, Probe& probe, const Probe& now) {
    if (now.loads_modules && !module_has_its_probes(cpu, frame, probe)) return false;
    if (now.frees_code) {
        if (!begin_quiet(cpu)) return false;
        end_freed(cpu, frame, probe);
        end_quiet(cpu);
    }
    const bool of_return = now.of != 0 && (probes_[now.of - 1].rule == 0 ||
                                           open_.has(guest_register(frame, 13), frame.pc));
    const bool judged = now.entry && now.rule != 0;
    if ((of_return || (now.entry && !judged)) && must_wait(cpu)) return false;
    const Verdict verdict = judged      ? judge(cpu, frame, probe, now)
                            : now.entry ? Verdict::record
                                        : Verdict::hold;
    if (verdict == Verdict::again || (verdict == Verdict::fire && !fire(cpu))) return false;
    const bool of_call = verdict != Verdict::hold;
    if (!of_call && !of_return && !now.returns && !now.loads_modules) return true;
    abi::Record r = describe_fault(frame, {}, {}, 0, abi::FaultReason::none);
    r.value = frame.r[0] | std::uint64_t{frame.r[1]} << 32;
    std::optional<bool> returns = false;
    if (of_call && now.returns)
        returns = now.site == r.lr ? std::optional(true) : watch_return(cpu, frame, probe);
    if (!returns) return false;
    if (judged && now.returns) returns = open_.put(r.sp, r.lr, number_of(probe), *returns);
    if (judged && of_call)
        count(cpu, probe, now,
              [&](const Rule& rule, Tally& hits) { add_hit(cpu, frame, rule, hits, hits.met); });
    if (of_return) {
        abi::Record ret = r;
        ret.type = abi::RecordType::ret;
        ret.lr = ret.pc;
        cpu.ring.publish_event(ret);
        open_.end(r.sp, frame.pc);
    }
    if (of_call) {
        r.type = abi::RecordType::call;
        r.flags = *returns ? abi::flag_returns : 0;
        r.va = frame.r[2];
        r.pa_low = frame.r[3];
        cpu.ring.publish_event(r, stacks_.of_call(cpu, frame));
    }
    if (now.loads_modules) port::store_shared(loading_, 0);
    return true;
}

/// The guest waits for a reader.
bool Probes::must_wait(Cpu& cpu) {
    const unsigned needed = 3 + stacks_.records_of_call(); // a call, a return, hits
    if (!cpu.ring.stalls() || cpu.ring.has_room(needed)) return false;
    ++cpu.ring.statistics().retries;
    return true;
}

/// Changes the hits of this CPU by add(Rule, Tally), if the probe still is what it was.
template <class Add>
void Probes::count(Cpu& cpu, const Probe& probe, const Probe& now, const Add& add) {
    std::uint32_t& counts = hits_[cpu.number].counts;
    port::store_shared(counts, 1);
    port::complete_all(); // either it still is seen to be so here, or let_count() sees this
    if (port::load_shared(probe.va) == now.va && probe.rule == now.rule) {
        port::order_memory(); // not the counts of before set_rule()
        add(rules_[now.rule], tally(probe, cpu.number));
    }
    port::order_memory();
    port::store_shared(counts, 0);
}

/// One more hit in `counted`, one of `hits`, for which there is room.
void Probes::add_hit(Cpu& cpu, const Frame& frame, const Rule& rule, Tally& hits,
                     std::uint32_t& counted) {
    const std::uint32_t now = port::load_shared(counted) + 1;
    port::store_shared(counted, now == Rule::restarts ? 0 : now);
    if (!Rule::tells(now)) return;
    const bool met = &counted == &hits.met;
    const std::uint64_t untold =
        met ? rule.held(now) - rule.held(now / 2) : std::uint64_t{now - now / 2} << 32;
    if (untold == 0) return;
    abi::Record r = describe_fault(frame, {}, {}, 0, abi::FaultReason::none);
    r.type = abi::RecordType::hits;
    r.value = untold;
    cpu.ring.publish_event(r);
}

/// What becomes of a call. If it makes no record, it has been counted.
Probes::Verdict Probes::judge(Cpu& cpu, const Frame& frame, const Probe& probe, const Probe& now) {
    Verdict verdict = Verdict::again;
    count(cpu, probe, now, [&](const Rule& rule, Tally& hits) {
        const bool met = rule.holds(frame),
                   records = met && rule.records(port::load_shared(hits.met));
        std::uint32_t& counted = met ? hits.met : hits.others;
        if ((records || Rule::tells(port::load_shared(counted) + 1)) && must_wait(cpu)) return;
        verdict = records ? rule.fires() ? Verdict::fire : Verdict::record : Verdict::hold;
        if (!records) add_hit(cpu, frame, rule, hits, counted);
    });
    return verdict;
}

/// The kernel is about to run the init function of the module in r0. False: the guest tries again.
/// Of several modules one at a time waits.
bool Probes::module_has_its_probes(Cpu& cpu, const Frame& frame, Probe& probe) {
    const std::int64_t patience =
        std::int64_t{abi::control::mailbox_patience} * port::read<reg::CNTFRQ>();
    const auto late = [&] {
        return static_cast<std::int64_t>(port::read<reg::CNTPCT>() - wait_begin_) > patience;
    };
    const bool waits = port::load_shared(loading_) == frame.r[0];
    if (waits && complete_) return true;
    if (waits && !late() && port::load_shared(mailbox_->request.id) == answered_) return false;
    if (cpu.ring.stalls() && !cpu.ring.has_room(1)) return false;
    if (!begin_quiet(cpu)) return false;
    if (loading_ == 0) {
        loading_ = frame.r[0];
        complete_ = false;
        wait_begin_ = port::read<reg::CNTPCT>();
        port::store_shared(mailbox_->module, loading_);
    } else if (late() && probe.loads_modules && is_at(probe, frame)) {
        end_alone(cpu, probe, ProbeEnd::unanswered);
    } else if (waits) {
        read_mailbox(cpu);
    }
    end_quiet(cpu);
    return false;
}

void Probes::read_mailbox(Cpu& cpu) {
    abi::control::Request r;
    port::load_structure(r, mailbox_->request);
    if (r.check != check_of(r) || r.id == answered_ || r.command != Command::probe) return;
    abi::control::Reply reply{abi::control::version, Status::done, r.id, {}, 0};
    if (r.argument[0] != 0) {
        const Rule staged = std::exchange(staged_, Rule{}); // others' next probes
        reply.status = change(cpu, r);
        staged_ = staged;
        if (reply.status == Status::done)
            record_change(cpu, Command::probe, r.argument[0], r.argument[1]);
    } else {
        complete_ = true;
        port::store_shared(mailbox_->module, 0);
    }
    answered_ = r.id;
    reply.check = check_of(reply);
    port::copy_shared(mailbox_->reply, reply);
}

namespace {

/// Whether Linux itself has mapped `va`, in the area of modules. Its own tables go by TTBR1, even
/// if the CPU does not use it; with long descriptors those of the GiB before TTBR1's lie on the
/// page before (arch/arm/mm/proc-v7-3level.S).
bool mapped_by_kernel(const Machine& machine, std::uint32_t va) {
    const std::uint32_t control = port::read<reg::TTBCR>(), base = port::read<reg::TTBR1>();
    const bool is_long = control >> 31 != 0, third_gib = (control >> 16 & 7) == 2;
    const std::uint32_t first = is_long ? (base & 0xffff'f000) - 0x1000 + (va >> 21 & 0x1ff) * 8
                                        : (base & 0xffff'c000) + (va >> 20) * 4;
    std::uint32_t entry = 0;
    if ((is_long && !third_gib) || !read_guest_memory(machine, {first}, {&entry, 1}) ||
        (entry & 3) != (is_long ? 3 : 1))
        return false;
    const std::uint32_t second = is_long ? (entry & 0xffff'f000) + (va >> 12 & 0x1ff) * 8
                                         : (entry & 0xffff'fc00) + (va >> 12 & 0xff) * 4;
    return read_guest_memory(machine, {second}, {&entry, 1}) && (entry & 2) != 0;
}

} // namespace

/// The kernel is about to free the code that r0 points to, by the function of `frees`. Linux leaves
/// the page behind it unmapped. A process's table may not have it yet (it gets that by a fault). If
/// nothing tells how much it is, all code ends that is not mapped as the kernel itself.
void Probes::end_freed(Cpu& cpu, const Frame& frame, const Probe& frees) {
    constexpr std::uint32_t area = 16u << 20; // bytes, of modules
    const auto begin = static_cast<std::uint32_t>(page_floor(frame.r[0]));
    if (begin == 0) return; // of a module without a part
    std::uint32_t size = 0;
    while (size < area &&
           (translate(privileged, {begin + size}) || mapped_by_kernel(*cpu.machine, begin + size)))
        size += page_size;
    for (Probe& probe : all()) {
        const bool freed =
            size != 0 ? probe.va - begin < size : probe.pa - probe.va != frees.pa - frees.va;
        if (probe.va != no_code && freed) end_alone(cpu, probe, ProbeEnd::freed);
    }
}

/// Whether the return of the call at PC makes a record. Empty: not known yet.
std::optional<bool> Probes::watch_return(Cpu& cpu, const Frame& frame, Probe& probe) {
    Machine& machine = *cpu.machine;
    const std::uint32_t lr = guest_register(frame, 14);
    const auto found = translate(frame, {lr});
    if (!found || lr % 4 != 0) return false;
    const auto pa = static_cast<std::uint32_t>(found->value);
    if (!modules_ && pa - lr != probe.pa - probe.va) return false; // it may be freed unnoticed
    const Page* const page = pages_.find(pa);
    const Probe* const there = page != nullptr && !page->waits ? find(*page, pa) : nullptr;
    // Of a function without a rule all returns are recorded.
    if (there != nullptr && there->of != 0 &&
        (probe.rule != 0 || probes_[there->of - 1].rule == 0)) {
        probe.site = lr;
        return true;
    }
    std::uint32_t word = 0;
    if (!read_guest_memory(machine, *found, {&word, 1}) || !can_have_probe(machine, pa, word))
        return false;
    if (!begin_quiet(cpu)) return std::nullopt;
    const auto number = static_cast<std::uint16_t>(number_of(probe));
    const Status status = put(cpu, {.va = lr, .pa = pa, .word = word, .of = number}, false);
    end_quiet(cpu);
    if (status == Status::other_code) return std::nullopt;
    return status == Status::done;
}

/// The guest executes the instruction at PC, which has its record, without a probe.
void Probes::give_up(Cpu& cpu, const Frame& frame, ProbeEnd why) {
    Hit& last = hits_[cpu.number];
    last.recorded = frame.pc;
    last.sp = guest_register(frame, 13);
    if (!begin_quiet(cpu)) return; // it comes again
    const auto pa = translate(frame, {frame.pc});
    Page* const page = pa ? pages_.find(static_cast<std::uint32_t>(pa->value)) : nullptr;
    Probe* const probe =
        page != nullptr ? find(*page, static_cast<std::uint32_t>(pa->value)) : nullptr;
    if (probe != nullptr) end_alone(cpu, *probe, why);
    end_quiet(cpu);
    last.recorded = 0;
}

/// An instruction that accesses what traps has not been executed. It is again, in the copy.
bool Probes::end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const StepEnd end = leave_step(cpu, frame, hsr);
    cpu.step.ops = nullptr;
    forget_instructions();
    if (end == StepEnd::planned) return true;
    const bool accesses = end == StepEnd::trap && frame.pc == hits_[cpu.number].stepped &&
                          hsr.ec() == arch::ExceptionClass::data_abort && !hsr.debug_event();
    if (!accesses) return caused_trap(cpu, frame, hsr, end);
    give_up(cpu, frame, ProbeEnd::accesses);
    return true;
}

/// cpu.trapped.access is a store to the page, which HSR describes.
void Probes::store(Cpu& cpu, const Frame& frame, Page& page) {
    const DeviceAccess& access = cpu.trapped.access;
    const auto pa = static_cast<std::uint32_t>(access.pa.value);
    const std::size_t size = std::size_t{1} << access.log2_size;
    pages_.hide(page);
    // Hyp maps the guest's memory Non-cacheable; the guest's caches may have the line.
    port::flush_to_coherency({pa}, size);
    port::device_write({pa}, access.log2_size, bus_value(frame, access.value, access.log2_size));
    port::flush_to_coherency({pa}, size);
    if (Probe* const patched = find(page, pa & ~3u)) end(cpu, page, *patched, ProbeEnd::patched);
    else pages_.renew(page, pa);
    settle(page);
}

Outcome Probes::access(Cpu& cpu, Frame& frame, abi::FaultReason) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!access.write || !begin_quiet(cpu)) return Outcome::again;
    Page* const page = pages_.find(static_cast<std::uint32_t>(access.pa.value));
    const bool described = access.syndrome && access.pa.value % (1u << access.log2_size) == 0;
    if (page != nullptr && described) store(cpu, frame, *page);
    else if (page != nullptr) end_all_on(cpu, *page, ProbeEnd::page);
    end_quiet(cpu);
    return page != nullptr && described ? Outcome::done : Outcome::again;
}

Outcome Probes::fetch(Cpu& cpu, Frame&, VirtualAddress, PhysicalAddress pa, bool by_walk) {
    if (by_walk || !begin_quiet(cpu)) return Outcome::again;
    Page* const page = pages_.find(static_cast<std::uint32_t>(pa.value));
    if (page != nullptr && page->waits) begin_all_on(cpu, *page);
    end_quiet(cpu);
    return Outcome::again;
}

} // namespace mmioscope
