// What a probe's hits do: each is a record, or is counted, as a plain model says.
#include "catch_2_or_3.hpp"
#include "probes/rule.hpp"
#include "sim/random.hpp"
#include "unit/control/asking.hpp"

#include <algorithm>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::condition_of;
using abi::control::make_request;
using abi::control::ProbeAction;
using abi::control::ProbeRelation;
using abi::control::ProbeSubject;

namespace {

constexpr std::uint32_t function = 0x80a0'0100, stack = 0x80b0'0000;
constexpr std::uint32_t push_r4_lr = 0xe92d'4010, pop_r4_lr = 0xe8bd'4010, add_r6_1 = 0xe286'6001;

RigOptions with_probes(std::uint64_t seed, unsigned cpus) {
    RigOptions options = options_for(
        seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, cpus, seed);
    options.tree.probes = true;
    options.conditions.keeps_old_code = true;
    options.conditions.late_one_in = seed % 3 == 0 ? 400 : 40;
    return options;
}

void write_function(Rig& rig) {
    Code(rig.simulation.ram, function).word(push_r4_lr).word(add_r6_1).word(pop_r4_lr).bx(14);
}

void ask_and_note(Code& code, Command command, std::uint32_t first, std::uint32_t second = 0) {
    sim::ask_and_note(code, make_request(command, 1, first, second));
}
void ask_for(Code& code, ProbeAction action, std::uint32_t one_in) {
    ask_and_note(code, Command::probe_action, static_cast<std::uint32_t>(action), one_in);
}

/// Calls the function with 1, 2, ... in r0, and that times 0x55 in r2; r3 counts down.
void write_caller(Code& code, unsigned calls, std::uint32_t sp,
                  std::vector<std::uint32_t>* sites = nullptr) {
    code.mov(13, sp).mov(0, 0).mov(1, at::fifo).mov(2, 0).mov(3, calls).mov(6, 0).mov(12, function);
    const std::uint32_t loop = code.here(), back = loop + 20;
    code.add(0, 0, 1).add(2, 2, 0x55).mov(14, back).bx(12);
    if (sites != nullptr) sites->push_back(code.here());
    code.subs(3, 3, 1).bne(loop);
}

void check_machine(Rig& rig) {
    REQUIRE(rig.failure() == "");
    REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
    CHECK(rig.services.integrity.find_damage(false).name == nullptr);
}

struct Sum {
    std::uint64_t held = 0, others = 0;
};
Sum sum_of_hits(const Rig& rig) {
    Sum sum;
    for (const abi::Record& r : rig.records_of(abi::RecordType::hits)) {
        CHECK(r.pc == function);
        sum.held += r.value & 0xffff'ffff;
        sum.others += r.value >> 32;
    }
    return sum;
}

/// A condition as the text of a request, and as it is meant.
struct Wanted {
    ProbeSubject subject;
    ProbeRelation relation;
    std::uint32_t mask, value;

    bool holds(const std::uint32_t (&seen)[5]) const {
        const std::uint32_t of = seen[static_cast<unsigned>(subject)] & mask;
        switch (relation) {
        case ProbeRelation::equal: return of == value;
        case ProbeRelation::other: return of != value;
        case ProbeRelation::below: return of < value;
        case ProbeRelation::above: return of > value;
        }
        return false;
    }
};

} // namespace

TEST_CASE("a hit makes a record if it meets the conditions and is the sampled one, and is counted "
          "otherwise",
          "[protocol]") {
    constexpr unsigned calls = 50;
    std::uint64_t recorded = 0, held = 0, others = 0;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const bool counts = seed % 4 == 0, returns = !counts && random.one_in(2);
        const auto one_in = static_cast<std::uint32_t>(1 + random.below(4));
        const auto task = static_cast<std::uint32_t>(0x8000 + random.below(3));
        std::vector<Wanted> conditions(random.below(4));
        for (Wanted& c : conditions) {
            c.subject = static_cast<ProbeSubject>(random.below(5));
            c.relation = static_cast<ProbeRelation>(random.below(4));
            constexpr std::uint32_t masks[] = {~0u, ~0u, 0xf, 0x7, 0x30};
            c.mask = masks[random.below(5)];
            c.value = c.subject == ProbeSubject::task
                          ? 0x8000 + static_cast<std::uint32_t>(random.below(3))
                          : static_cast<std::uint32_t>(random.below(calls));
        }
        Rig rig(with_probes(seed, 1));
        write_function(rig);
        Code code = rig.program(0);
        code.mov(8, 0).mov(0, task).set_task(0);
        ask_for(code, counts ? ProbeAction::count : ProbeAction::record, one_in);
        for (const Wanted& c : conditions) {
            if (c.mask != ~0u) ask_and_note(code, Command::probe_mask, 0, c.mask);
            ask_and_note(code, Command::probe_if, condition_of(c.subject, c.relation), c.value);
        }
        const std::uint32_t asked = function | (returns ? abi::control::returns : 0);
        ask_and_note(code, Command::probe, asked, push_r4_lr);
        write_caller(code, calls, stack);
        write_request(code, make_request(Command::probe_hits, 9, function));
        code.ldr(10, 5, 20).ldr(11, 5, 24);
        ask_and_note(code, Command::unprobe, function);
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        std::vector<std::uint32_t> expected;
        std::uint32_t met = 0, not_met = 0;
        for (std::uint32_t n = 1; n <= calls; ++n) {
            const std::uint32_t seen[] = {n, at::fifo, 0x55 * n, calls + 1 - n, task};
            const bool all =
                std::ranges::all_of(conditions, [&](const Wanted& c) { return c.holds(seen); });
            if (!all) ++not_met;
            else if (met++ % one_in == 0 && !counts) expected.push_back(n);
        }
        std::vector<std::uint32_t> found, returned;
        for (const abi::Record& r : rig.records_of(abi::RecordType::call)) {
            found.push_back(static_cast<std::uint32_t>(r.value));
            CHECK((r.flags == abi::flag_returns) == returns);
        }
        for (const abi::Record& r : rig.records_of(abi::RecordType::ret))
            returned.push_back(static_cast<std::uint32_t>(r.value));
        CHECK(found == expected);
        CHECK(returned == (returns ? expected : std::vector<std::uint32_t>{}));
        CHECK(rig.reg(0, 10) == met - found.size());
        CHECK(rig.reg(0, 11) == not_met);
        const Sum sum = sum_of_hits(rig);
        CHECK(sum.held == met - found.size());
        CHECK(sum.others == not_met);
        recorded += found.size();
        held += sum.held;
        others += sum.others;
    }
    CHECK(std::min({recorded, held, others}) > 0);
}

TEST_CASE(
    "no hit is lost or counted twice while probes come and go, and change what they do, under "
    "CPUs that execute them",
    "[protocol]") {
    constexpr unsigned calls = 60, rounds = 3, one_in = 2;
    std::size_t all = 0;
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed, 2));
        rig.simulation.speculated.push_back(function & ~0xfffu);
        write_function(rig);
        constexpr std::uint32_t near = 0x80a1'0000; // the function's table, other than its page
        Code caller(rig.simulation.ram, near);
        write_caller(caller, calls, stack);
        caller.end();
        rig.program(1).mov(12, near).bx(12);
        Code code = rig.program(0);
        code.mov(8, 0).mov(9, at::fifo);
        for (unsigned n = 0; n < rounds; ++n) {
            ask_for(code, ProbeAction::record, one_in);
            ask_and_note(code, Command::probe, function | (seed & 1), push_r4_lr);
            code.ldr(2, 9).ldr(2, 9).ldr(2, 9);
            if (n == 1) { // from 0 on again
                ask_and_note(code, Command::probe_if,
                             condition_of(ProbeSubject::r0, ProbeRelation::other), 0);
                ask_and_note(code, Command::probe, function | (seed & 1), push_r4_lr);
            }
            ask_and_note(code, Command::unprobe, function);
        }
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(1, 6) == calls);
        // Between two recorded ones there is one that is not, unless the probe was set between.
        const auto records = rig.records_of(abi::RecordType::call);
        std::uint64_t last = 0, between = 0;
        unsigned stretches = 0;
        for (const abi::Record& r : records) {
            const std::uint64_t n = r.value & 0xffff'ffff;
            CHECK(n > last);
            if (n == last + one_in) ++between;
            else ++stretches;
            last = n;
        }
        CHECK(stretches <= rounds + 1);
        const Sum sum = sum_of_hits(rig);
        CHECK(sum.others == 0);
        CHECK(sum.held >=
              between - std::min<std::uint64_t>(between, rounds + 1)); // by chance a step of 2
        CHECK(sum.held <= records.size());
        all += records.size();
    }
    CHECK(all > 0);
}

TEST_CASE(
    "what a probe does changes under a CPU that executes it: each hit is a record, or counted",
    "[protocol]") {
    constexpr unsigned calls = 80, changes = 12;
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_probes(seed, 2);
        options.tree.probe_cells = {0, function, push_r4_lr};
        Rig rig(options);
        write_function(rig);
        Code caller = rig.program(1);
        write_caller(caller, calls, stack);
        caller.ldr(2, 1).end();
        Code code = rig.program(0);
        code.mov(8, 0).mov(9, at::fifo);
        for (unsigned n = 0; n < changes; ++n) {
            ask_for(code, n % 3 == 0 ? ProbeAction::count : ProbeAction::record, 1 + n % 4);
            ask_and_note(code, Command::probe, function, push_r4_lr);
            code.ldr(2, 9);
        }
        code.end();
        unsigned ended = 0;
        for (unsigned n = 0; n < 2; ++n)
            rig.on_end(n, [&](Core&, mmioscope::Cpu& cpu) {
                if (++ended == 2) ask(cpu, Command::unprobe, function);
            });
        rig.run();
        check_machine(rig);
        const Sum sum = sum_of_hits(rig);
        CHECK(rig.records_of(abi::RecordType::call).size() + sum.held + sum.others == calls);
    }
}

TEST_CASE("hits that several CPUs count at once add up, whoever reads them", "[protocol]") {
    constexpr unsigned calls = 40;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_probes(seed, 3);
        constexpr std::uint32_t count = static_cast<std::uint32_t>(Command::probe_action) |
                                        static_cast<std::uint32_t>(ProbeAction::count) << 8;
        options.tree.probe_cells = {0, count, 1, function, push_r4_lr};
        Rig rig(options);
        write_function(rig);
        for (unsigned cpu = 0; cpu < 3; ++cpu) {
            Code code = rig.program(cpu);
            code.mov(8, 0);
            write_caller(code, calls, stack + 0x1000 * cpu);
            code.ldr(2, 1).end(); // its counts are in memory then
        }
        unsigned ended = 0;
        Reply reply{};
        for (unsigned n = 0; n < 3; ++n)
            rig.on_end(n, [&](Core&, mmioscope::Cpu& cpu) {
                if (++ended == 3) reply = ask(cpu, Command::probe_hits, function);
            });
        rig.run();
        check_machine(rig);
        CHECK(rig.records_of(abi::RecordType::call).empty());
        CHECK(reply.status == Status::done);
        CHECK(reply.value[0] == 3 * calls);
        CHECK(reply.value[1] == 0);
        CHECK(sum_of_hits(rig).held == 3 * 32); // 1, 2, 4, ..., 32
        const auto changes = rig.records_of(abi::RecordType::configuration);
        REQUIRE(changes.size() == 2); // what it does, and that it begins
        CHECK(abi::control::tag_command(changes[0].pa_low) == Command::probe_action);
    }
}

TEST_CASE("a probe in the place of one that a CPU still counts at has none of its hits", "[protocol]") {
    constexpr std::uint32_t other = function + 0x400, stays = other + 4; // with the page's copy
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_probes(seed, 2);
        options.conditions.switch_one_in = 300; // one CPU does much while the other counts
        Rig rig(options);
        write_function(rig);
        Code(rig.simulation.ram, other).word(push_r4_lr).word(push_r4_lr);
        Code caller = rig.program(1);
        write_caller(caller, 2000, stack);
        caller.end();
        Code code = rig.program(0);
        code.mov(8, 0).mov(11, 0);
        ask_for(code, ProbeAction::count, 1);
        ask_and_note(code, Command::probe, stays, push_r4_lr);
        for (unsigned n = 0; n < 40; ++n) {
            ask_and_note(code, Command::probe, function, push_r4_lr);
            ask_and_note(code, Command::unprobe, function);
            ask_and_note(code, Command::probe, other, push_r4_lr);
            write_request(code, make_request(Command::probe_hits, 9, other));
            code.ldr(10, 5, 20).add_reg(11, 11, 10);
            ask_and_note(code, Command::unprobe, other);
        }
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(0, 11) == 0);
    }
}

TEST_CASE("a probe that is to stop the records closes the fast path from the start") {
    constexpr auto stop = static_cast<std::uint32_t>(ProbeAction::stop);
    for (const std::uint32_t action : {0u, stop}) {
        RigOptions options = with_probes(1, 1);
        options.tree.probe_cells = {0,
                                    static_cast<std::uint32_t>(Command::probe_action) | action << 8,
                                    1, function, push_r4_lr};
        Rig rig(options);
        rig.program(0).end();
        rig.run();
        check_machine(rig);
        CHECK((rig.machine->has_fast_regions == 0) == (action == stop));
    }
}

TEST_CASE("a call starts or stops the records of accesses, at the one that meets the conditions",
          "[protocol]") {
    constexpr unsigned calls = 10, at_call = 6, accesses = 4; // most on the fast path
    for (const bool starts : {true, false}) {
        for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
            CAPTURE(starts, seed);
            RigOptions options = with_probes(seed, 1);
            const auto action =
                static_cast<std::uint32_t>(starts ? ProbeAction::start : ProbeAction::stop);
            const std::uint32_t condition = condition_of(ProbeSubject::r0, ProbeRelation::equal);
            const bool from_the_start = seed % 4 < 2; // with both engines
            const auto of_next = [](Command command, std::uint32_t first) {
                return static_cast<std::uint32_t>(command) | first << 8;
            };
            if (from_the_start)
                options.tree.probe_cells = {0,         of_next(Command::probe_action, action),
                                            1,         of_next(Command::probe_if, condition),
                                            at_call,   function,
                                            push_r4_lr};
            Rig rig(options);
            write_function(rig);
            Code code = rig.program(0);
            code.mov(8, 0);
            if (!from_the_start) {
                ask_and_note(code, Command::probe_action, action, 1);
                ask_and_note(code, Command::probe_if, condition, at_call);
                ask_and_note(code, Command::probe, function, push_r4_lr);
            }
            code.mov(13, stack).mov(0, 0).mov(1, at::fifo).mov(3, calls).mov(12, function);
            const std::uint32_t loop = code.here(), back = loop + 32;
            code.add(0, 0, 1);
            for (unsigned n = 0; n < accesses; ++n) code.str(0, 1);
            code.mov(14, back).bx(12).subs(3, 3, 1).bne(loop).end();
            rig.run();
            check_machine(rig);
            CHECK(status_of(rig.reg(0, 8)) == Status::done);
            CHECK(rig.records_of(abi::RecordType::call).size() == 1);
            CHECK(rig.records_of(abi::RecordType::access).size() ==
                  accesses * (starts ? calls - at_call : at_call));
            unsigned fired = 0;
            for (const abi::Record& r : rig.records_of(abi::RecordType::configuration))
                fired += r.value == abi::control::fired;
            CHECK(fired == 1);
            CHECK(sum_of_hits(rig).others == calls - 1 - (calls - 1 - 8)); // told: 1, 2, 4, 8
        }
    }
}

TEST_CASE("what makes no sense for a probe is refused") {
    RigOptions options = with_probes(1, 1);
    Rig rig(options);
    write_function(rig);
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) {
        const auto status = [&](Command command, std::uint32_t first, std::uint32_t second = 0) {
            return ask(cpu, command, first, second).status;
        };
        CHECK(status(Command::probe_action, 4, 1) == Status::argument);
        CHECK(status(Command::probe_action, 1, 0) == Status::argument);
        CHECK(status(Command::probe_if, 5, 1) == Status::argument);
        CHECK(status(Command::probe_if, 0x400, 1) == Status::argument);
        CHECK(status(Command::probe_mask, 1, 1) == Status::argument);
        CHECK(status(Command::probe_hits, function) == Status::not_probed);
        CHECK(status(Command::probe_action, 1, 1) == Status::done);
        const auto returns = abi::control::returns;
        CHECK(status(Command::probe, function | returns, push_r4_lr) == Status::argument);
        for (unsigned n = 0; n < abi::control::most_conditions; ++n)
            CHECK(status(Command::probe_if, 0, n) == Status::done);
        CHECK(status(Command::probe_if, 0, 9) == Status::argument);
        CHECK(status(Command::probe, function, push_r4_lr) == Status::done);
        // As many rules as there are, each with a probe; one is free again with its probe.
        std::uint32_t at = function + 0x1000, n = 1;
        for (unsigned i = 0; i < 100; ++i) Code(rig.simulation.ram, at + 4 * i).word(push_r4_lr);
        for (Status last = Status::done; last == Status::done; at += 4, ++n) {
            CHECK(status(Command::probe_action, 0, n + 1) == Status::done);
            last = status(Command::probe, at, push_r4_lr);
        }
        CHECK(status(Command::probe, at - 4, push_r4_lr) == Status::no_room);
        CHECK(status(Command::unprobe, function) == Status::done);
        CHECK(status(Command::probe, at - 4, push_r4_lr) == Status::done);
    });
    rig.run();
    CHECK(rig.failure() == "");
}

TEST_CASE("what has been told of a count is what hits records have said") {
    Random random(1);
    for (unsigned n = 0; n < 200; ++n) {
        Rule rule;
        rule.action = n % 3 == 0 ? ProbeAction::count : ProbeAction::record;
        rule.one_in = static_cast<std::uint32_t>(1 + random.below(9));
        std::uint32_t made = 0, told = 0;
        const auto last = static_cast<std::uint32_t>(random.below(3000));
        for (std::uint32_t met = 0; met < last; ++met) {
            made += rule.records(met);
            if (Rule::tells(met + 1)) told += rule.held(met + 1) - rule.held((met + 1) / 2);
        }
        CHECK(rule.held(last) == last - made);
        CHECK(told + static_cast<std::uint32_t>(rule.untold({last, 0})) == last - made);
    }
}
