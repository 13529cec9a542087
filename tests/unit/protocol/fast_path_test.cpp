// The fast path (entry/fast_path.S) records what the slow one records. That it is taken shows in
// what an access costs (tests/bench).
#include "control/selection.hpp"
#include "port/fast_code.hpp"
#include "sim/guest_cpu.hpp"
#include "sim/judge.hpp"

#include "trap/fast_path.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Loads and stores of one register: each size and sign, any register that may be, in SVC mode or
/// User mode, a whole page's, part of a page's, next to an unnamed address, aborted, not aligned.
void write_program(Code& code, Random& random) {
    constexpr std::uint32_t bases[] = {at::fifo,      at::fifo + 0x800, at::gadget + 0xf0,
                                       at::neighbour, at::wide + 0xff8, at::wide + 0x2ff0,
                                       at::console,   at::broken,       at::sysreg + 0x80};
    for (unsigned i = 0; i < 40; ++i) {
        if (i == 20 && random.one_in(2)) code.cps(0x10);
        const auto skew = static_cast<std::uint32_t>(random.one_in(16) ? random.below(4) : 0);
        code.mov(0, bases[random.below(std::size(bases))] + skew);
        const auto reg = static_cast<unsigned>(random.one_in(8) ? 14 : 1 + random.below(7));
        switch (random.below(8)) {
        case 0: code.ldr(reg, 0, 4); break;
        case 1: code.str(reg, 0, 4); break;
        case 2: code.ldrb(reg, 0, 1); break;
        case 3: code.strb(reg, 0, 3); break;
        case 4: code.ldrh(reg, 0, 2); break;
        case 5: code.strh(reg, 0, 0); break;
        case 6: code.ldrsb(reg, 0, 0); break;
        default: code.ldrsh(reg, 0, 4); break;
        }
    }
    code.end();
}

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

std::unique_ptr<Rig> run(abi::EngineKind engine, unsigned cpus, std::uint64_t seed,
                         bool slow_path) {
    RigOptions options = options_for(engine, cpus, seed);
    options.tree.slow_path = slow_path;
    options.tree.policy = seed % 3 == 0 ? "flight" : "drop";
    auto rig = std::make_unique<Rig>(options);
    Random random(seed);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        rig->simulation.cores[cpu].bank(port::Banked::sp_svc) = 0x8010'0000 + 0x100 * cpu;
        rig->simulation.cores[cpu].bank(port::Banked::sp_usr) = 0x4000'0000;
        Code code = rig->program(cpu);
        write_program(code, random);
    }
    rig->run();
    REQUIRE(rig->failure() == "");
    REQUIRE(compare_with_bus(*rig) == "");
    return rig;
}

/// Without what tells how long it took, which differs.
std::vector<std::byte> timeless(abi::Record record) {
    record.time = record.duration = 0;
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    return {bytes, bytes + sizeof record};
}

} // namespace

TEST_CASE("the fast path records what the slow one does", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        CAPTURE(seed);
        const auto fast = run(engine, 1, seed, false);
        const auto slow = run(engine, 1, seed, true);
        const auto& records = fast->records(0);
        REQUIRE(records.size() == slow->records(0).size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            CAPTURE(i);
            REQUIRE(timeless(records[i]) == timeless(slow->records(0)[i]));
        }
        for (unsigned n = 0; n < 13; ++n) REQUIRE(fast->reg(0, n) == slow->reg(0, n));
        const abi::Statistics& counted = fast->ring(0).statistics;
        const abi::Statistics& expected = slow->ring(0).statistics;
        REQUIRE(counted.traps == expected.traps);
        REQUIRE(counted.emulated == expected.emulated);
        REQUIRE(counted.emulated_user == expected.emulated_user);
        REQUIRE(counted.stepped == expected.stepped);
        REQUIRE(counted.abnormal == expected.abnormal);
    }
}

TEST_CASE("the fast path takes every plain access of SVC mode, and looks at the ring once in 64",
          "[protocol]") {
    constexpr unsigned accesses = 300;
    const auto engine = GENERATE(values(engines));
    const bool streams = GENERATE(false, true);
    RigOptions options = options_for(engine, 1, 1);
    if (GENERATE(false, true)) options.tree.task_names = {0x300, 0x2a0};
    if (streams) options.tree.stream = "serial0";
    Rig rig(options);
    rig.on_end(0, [](Core& core, const mmioscope::Cpu&) {
        CHECK(core.frame.lr_usr == 0); // as the guest has begun with, and in SVC mode never changed
    });
    Code code = rig.program(0);
    code.mov(2, 0x77).mov(14, 0x1234);
    for (unsigned n = 0; n < accesses; n += 10) {
        code.mov(0, n % 20 == 0 ? at::fifo : at::gadget + 0x40); // a part of a page
        code.ldr(1, 0).str(2, 0, 4).ldrb(1, 0, 1).strb(2, 0, 3).ldrh(1, 0, 2).strh(2, 0, 6);
        code.ldr(14, 0).str(14, 0, 8).ldr(3, 0, 12).str(1, 0, 16);
    }
    code.end();
    rig.run();
    REQUIRE(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == accesses);
    CHECK(rig.simulation.slow_traps < accesses / 4); // one in 16 loses the monitor at the lock
    if (streams) CHECK(rig.simulation.looks > accesses - accesses / 8);
    else CHECK(rig.simulation.looks <= rig.ring(0).head / abi::looks_ahead);
    CHECK(rig.simulation.looks > 1);
}

TEST_CASE("the fast path finds the pages of what may be traced, and no others") {
    const auto engine =
        GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation, abi::EngineKind::unprotect);
    Rig rig(options_for(engine, 1, 1));
    rig.program(0).end();
    rig.run();
    const PageIndex& pages = rig.machine->pages;
    const bool takes_it = engine != abi::EngineKind::unprotect;
    CHECK((pages.find(at::fifo) != nullptr) == takes_it);
    CHECK((pages.find(at::wide + 0x1000) != nullptr) == takes_it);
    CHECK((pages.find(at::gadget + 0xc0) != nullptr) == takes_it); // 64 bytes of a page with others
    CHECK(pages.find(at::sysreg + 0x80) == nullptr);               // always traps
    CHECK(pages.find(at::own_uart) == nullptr);
}

TEST_CASE("CPUs on the fast path have their accesses in the order of the bus", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        run(engine, 3, seed, false);
    }
}

TEST_CASE("behind each access the stream goes on, but not in a step", "[protocol]") {
    constexpr unsigned accesses = 600; // the devices go first, 16 bytes at each trap
    RigOptions options = options_for(GENERATE(values(engines)), 1, 1);
    options.tree.stream = "serial0";
    options.tree.slow_path = GENERATE(false, true);
    Rig rig(options);
    std::uint64_t left = 0;
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) {
        const abi::RingHeader& ring = rig.ring(0);
        left = ring.head - ring.readers[abi::drain_reader].tail;
        CHECK(ring.head > accesses);
        CHECK(cpu.always_slow == options.tree.slow_path);
    });
    bool sent_in_step = false;
    rig.simulation.meanwhile = [&, sent = std::uint64_t{}](const Core&) mutable {
        const std::uint64_t tail = rig.ring(0).readers[abi::drain_reader].tail;
        // The fast path has the stream's turn before the step; behind it there is no C++.
        sent_in_step |= options.tree.slow_path && in_step(rig.machine->cpus[0]) && tail != sent;
        sent = tail;
    };
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    for (unsigned n = 0; n < accesses; ++n) code.ldr(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(left < 4); // it takes two at each trap
    CHECK(!sent_in_step);
}

namespace {

bool is_slow(const mmioscope::Cpu& cpu) {
    return cpu.fast.handler == port::fast_code(port::FastCode::slow);
}

/// CPU 0 has booted and made an access; then one more instruction of its guest's, `word`, behind
/// what another CPU does under the locks.
template <class Meanwhile>
void execute_behind(Rig& rig, std::uint32_t word, Meanwhile&& meanwhile) {
    rig.on_end(0, [&rig, word, meanwhile](Core& core, mmioscope::Cpu& cpu) {
        CHECK(!is_slow(cpu));
        meanwhile(*rig.machine);
        Code(rig.simulation.ram, core.frame.pc).word(word).end();
        core.ended = false;
        GuestCpu(rig.simulation, core, cpu).run();
        CHECK(is_slow(cpu) == rig.machine->control.choice.any);
    });
    rig.program(0).mov(0, at::fifo).ldr(1, 0).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
}

constexpr std::uint32_t plain_load = 0xe590'1000; // ldr r1, [r0]

} // namespace

TEST_CASE("what another CPU has switched on or off holds for the fast path's next access",
          "[protocol]") {
    const bool filter = GENERATE(false, true);
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    execute_behind(rig, plain_load, [&](Machine& machine) {
        if (filter) {
            machine.control.choice.filter.pattern.directions = 2;
            machine.control.choice.any = true;
            return choose_fast_regions(machine);
        }
        for (Span& span : machine.map)
            if (span.range.contains(at::fifo)) span.traced_word = 0, span.trapped = true;
        choose_fast_regions(machine);
    });
    CHECK(rig.records_of(abi::RecordType::access).size() == 2);
    CHECK(rig.ring(0).statistics.filtered == (filter ? 1 : 0));
    CHECK(rig.ring(0).statistics.unselected == (filter ? 0 : 1));
}

TEST_CASE("a filter spares the next access the try of the fast path") {
    const bool filter = GENERATE(false, true);
    Rig rig(options_for(abi::EngineKind::emulation, 1, 1));
    constexpr std::uint32_t store_writeback = 0xe480'2004; // the slow path's
    execute_behind(rig, store_writeback,
                   [&](Machine& machine) { machine.control.choice.any = filter; });
}
