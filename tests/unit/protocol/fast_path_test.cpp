// The fast path (entry/fast_path.S) records the same as the slow one. The cost of an access shows
// that it is taken (tests/bench).
#include "abi/layout.hpp"
#include "control/selection.hpp"
#include "machine/area_layout.hpp"
#include "port/fast_code.hpp"
#include "sim/guest_cpu.hpp"
#include "sim/hyp_code.hpp"
#include "sim/judge.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

#include <set>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t bases[] = {at::fifo,      at::fifo + 0x800, at::gadget + 0xf0,
                                   at::neighbour, at::wide + 0xff8, at::wide + 0x2ff0,
                                   at::console,   at::broken,       at::sysreg + 0x80};

std::uint32_t any_address(Random& random) {
    const auto skew = static_cast<std::uint32_t>(random.one_in(16) ? random.below(4) : 0);
    return bases[random.below(std::size(bases))] + skew;
}

void write_arm_access(Code& code, Random& random) {
    code.mov(0, any_address(random));
    const auto reg = static_cast<unsigned>(random.one_in(8) ? 14 : 1 + random.below(7));
    if (random.one_in(3)) code.mov(12, random.below(2)).subs(12, 12, 1);
    switch (random.below(9)) {
    case 0: code.ldr(reg, 0, 4); break;
    case 1: code.str(reg, 0, 4); break;
    case 2: code.ldrb(reg, 0, 1); break;
    case 3: code.strb(reg, 0, 3); break;
    case 4: code.ldrh(reg, 0, 2); break;
    case 5: code.strh(reg, 0, 0); break;
    case 6: code.ldrsb(reg, 0, 0); break;
    case 7: code.ldr_post(1, 0, 4); break; // HSR does not describe it
    default: code.ldrsh(reg, 0, 4); break;
    }
    code.word(0x0288'8001); // addeq r8, r8, #1: the flags must be unchanged, even after an abort
}

/// At either half of a word, of either length, also in IT blocks.
void write_thumb_access(Code& code, Random& random) {
    constexpr std::uint16_t nop = 0xbf00, it_eq = 0xbf08, itt_al = 0xbfe4, movs_r6 = 0x2600,
                            add_r7 = 0x3701;
    code.mov_w(0, any_address(random));
    if (random.one_in(2)) code.half(nop);
    code.half(static_cast<std::uint16_t>(movs_r6 | random.below(2)));
    const bool block = random.one_in(8);
    if (block) code.half(itt_al);
    const auto size = static_cast<unsigned>(random.below(3));
    const bool load = random.one_in(2);
    if (random.one_in(8)) {
        code.wide(0xf850'1b04); // ldr r1, [r0], #4: HSR does not describe it
    } else if (random.one_in(2)) {
        const auto reg = static_cast<unsigned>(random.one_in(8) ? 14 : 1 + random.below(5));
        if (load) code.load_w(size, size < 2 && random.one_in(2), reg, 0, 4);
        else code.store_w(size, reg, 0, 4);
    } else {
        code.narrow(load, size, 1 + static_cast<unsigned>(random.below(5)), 0, 4);
    }
    if (block) code.half(nop);
    code.half(it_eq).half(add_r7);
}

/// Loads and stores of one register: each size and sign, any permitted register, in SVC mode or
/// User mode, ARM or Thumb state, on a whole page, on a part of a page, next to an unnamed address,
/// aborted, unaligned.
void write_program(Code& code, Random& random) {
    constexpr unsigned accesses = 40;
    bool thumb = false;
    bool user = false;
    if (random.one_in(2)) code.cpsie_aif();
    for (unsigned i = 0; i < accesses; ++i) {
        const bool turn = random.one_in(16);
        const bool goes_user = !user && i > accesses / 4 && random.one_in(24);
        if (thumb && (turn || goes_user)) code.to_arm(), thumb = false;
        else if (turn) code.to_thumb(), thumb = true;
        if (goes_user) code.cps(0x10), user = true;
        if (thumb) write_thumb_access(code, random);
        else write_arm_access(code, random);
    }
    if (thumb) code.end_thumb();
    else code.end();
}

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

std::unique_ptr<Rig> run(abi::EngineKind engine, unsigned cpus, std::uint64_t seed,
                         bool slow_path) {
    RigOptions options = options_for(engine, cpus, seed);
    options.tree.slow_path = slow_path;
    options.tree.policy = seed % 3 == 0 ? "flight" : "drop";
    auto rig = std::make_unique<Rig>(options);
    Random random(seed);
    rig->simulation.meanwhile = [n = 0u](Core& core) mutable {
        if (core.mode() == arch::Mode::svc) core.frame.lr_usr = ++n;
    };
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

/// Without the times, which differ.
std::vector<std::byte> timeless(abi::Record record) {
    record.time = record.duration = 0;
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    return {bytes, bytes + sizeof record};
}

} // namespace

TEST_CASE("the fast path records the same as the slow path", "[protocol]") {
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
        REQUIRE(fast->simulation.cores[0].frame.psr == slow->simulation.cores[0].frame.psr);
        const abi::Statistics& counted = fast->ring(0).statistics;
        const abi::Statistics& expected = slow->ring(0).statistics;
        REQUIRE(counted.traps == expected.traps);
        REQUIRE(counted.emulated == expected.emulated);
        REQUIRE(counted.emulated_user == expected.emulated_user);
        REQUIRE(counted.stepped == expected.stepped);
        REQUIRE(counted.abnormal == expected.abnormal);
    }
}

namespace {

/// Ten loads and stores, all different except the last two.
void write_ten(Code& code, std::uint32_t base, bool thumb, bool user) {
    const unsigned last = user ? 4 : 14; // the fast path does not handle LR there
    if (!thumb) {
        code.mov(0, base);
        code.ldr(1, 0).str(2, 0, 4).ldrb(1, 0, 1).strb(2, 0, 3).ldrh(1, 0, 2).strh(2, 0, 6);
        code.ldr(last, 0).str(last, 0, 8).ldr(3, 0, 12).str(1, 0, 16);
        return;
    }
    code.mov_w(0, base);
    code.narrow(true, 2, 1, 0, 0).narrow(false, 2, 2, 0, 4).narrow(true, 0, 1, 0, 1);
    code.store_w(0, 2, 0, 3).load_w(1, false, 1, 0, 2).narrow(false, 1, 2, 0, 6);
    code.load_w(2, false, last, 0, 0).store_w(2, last, 0, 8);
    code.narrow(true, 2, 3, 0, 12).narrow(false, 2, 1, 0, 16);
}

} // namespace

TEST_CASE("the fast path takes every plain access, and checks the ring once in 64", "[protocol]") {
    constexpr unsigned accesses = 300;
    const auto engine = GENERATE(values(engines));
    const bool streams = GENERATE(false, true);
    const bool thumb = GENERATE(false, true);
    const bool user = GENERATE(false, true);
    if (user && engine == abi::EngineKind::emulation) return; // Hyp's accesses would be privileged
    RigOptions options = options_for(engine, 1, 1);
    if (GENERATE(false, true)) options.tree.task_names = {0x300, 0x2a0};
    if (streams) options.tree.stream = "serial0";
    Rig rig(options);
    std::uint32_t user_lr = 0; // the guest cannot change it in SVC mode
    bool lost = false;
    rig.simulation.meanwhile = [&](Core& core) {
        if (user) return;
        lost |= core.frame.lr_usr != user_lr;
        core.frame.lr_usr = ++user_lr;
    };
    rig.on_end(0, [&](Core& core, const mmioscope::Cpu&) {
        CHECK(core.frame.lr_usr == (user ? 0x1234 : user_lr));
        CHECK(!lost);
    });
    Code code = rig.program(0);
    if (user) code.cps(0x10);
    code.mov(2, 0x77).mov(14, 0x1234);
    if (thumb) code.to_thumb();
    for (unsigned n = 0; n < accesses; n += 10)
        write_ten(code, n % 20 == 0 ? at::fifo + 0x40 : at::gadget + 0x40, thumb,
                  user); // a part of a page
    if (thumb) code.end_thumb();
    else code.end();
    rig.run();
    REQUIRE(rig.failure() == "");
    const auto records = rig.records_of(abi::RecordType::access);
    REQUIRE(records.size() == accesses);
    std::vector<BusAccess> bus = rig.bus_log(at::fifo, 0x1000);
    const std::vector<BusAccess> others = rig.bus_log(at::gadget, 0x100);
    bus.insert(bus.end(), others.begin(), others.end());
    std::stable_sort(bus.begin(), bus.end(),
                     [](const BusAccess& a, const BusAccess& b) { return a.time < b.time; });
    REQUIRE(bus.size() == accesses);
    for (unsigned n = 0; n < accesses; ++n) { // the access is between its record's two times
        REQUIRE(records[n].time <= bus[n].time);
        REQUIRE(bus[n].time <= records[n].time + records[n].duration);
        REQUIRE(records[n].duration < 1000);
    }
    CHECK(rig.ring(0).next_sequence == rig.records(0).back().cpu_sequence + 1);
    CHECK(rig.simulation.slow_traps < accesses / 4); // one in 16 loses the monitor at the lock
    if (streams) {                                   // at every sixth access
        CHECK(rig.simulation.looks > accesses / 10);
        CHECK(rig.simulation.looks < accesses / 4);
    } else CHECK(rig.simulation.looks <= rig.ring(0).head / abi::reserve_batch);
    CHECK(rig.simulation.looks > 1);
}

TEST_CASE("under each policy the fast path is open while the ring has room") {
    constexpr unsigned accesses = 300;
    RigOptions options = options_for(GENERATE(values(engines)), 1, 1);
    options.conditions.exclusives_fail_one_in = 0;
    options.tree.policy = GENERATE("drop", "stall", "flight");
    Rig rig(options);
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    for (unsigned n = 0; n < accesses; ++n) code.ldr(1, 0, 4);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == accesses);
    CHECK(rig.simulation.slow_traps < 5); // until it is open
}

TEST_CASE("the fast path counts stores, and leaves unaligned accesses to the slow path",
          "[protocol]") {
    constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f;
    constexpr std::uint32_t strex_r4_r2 = 0xe180'4f92;
    const auto engine = GENERATE(values(engines));
    Rig rig(options_for(engine, 1, 1));
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        const auto execute = [&](std::uint32_t word) {
            Code(rig.simulation.ram, core.frame.pc).word(word).end();
            core.ended = false;
            GuestCpu(rig.simulation, core, cpu).run();
        };
        const std::uint32_t& stores =
            rig.machine->locks.of(rig.machine->map.find({at::fifo})->region)
                .stores_to({at::fifo + 8});
        execute(0xe580'2000); // str r2, [r0]: from 0 on, any count would look right
        bool fast = false;
        for (unsigned n = 0; n < 4 && !fast; ++n) { // one in 16 loses the monitor at the lock
            execute(ldrex_r1);
            cpu.repeated_load = {}; // like another CPU, whose store takes the fast path
            open_fast_path(cpu);
            const std::uint64_t slow = rig.simulation.slow_traps;
            const std::uint32_t before = stores;
            execute(0xe580'2000); // str r2, [r0]
            CHECK(stores == before + 1);
            fast = rig.simulation.slow_traps == slow;
        }
        CHECK(fast);
        execute(strex_r4_r2);
        CHECK(core.frame.r[4] == 1);

        constexpr std::uint32_t load = 0x9381'0007, store = 0x9381'0047; // of a word
        // More than once, since one in 16 takes the slow path anyhow.
        for (const std::uint32_t hsr : {load, store, load, store, load, store}) {
            cpu.repeated_load = {};
            open_fast_path(cpu);
            const std::uint64_t before = rig.simulation.slow_traps;
            core.system.set<reg::HSR>(hsr);
            core.system.set<reg::HDFAR>(at::fifo + 2);
            core.system.set<reg::HPFAR>(at::fifo >> 12 << 4);
            rig.simulation.synchronize(core);
            run_hyp_code(rig.simulation, core, cpu, core.frame);
            CHECK(rig.simulation.slow_traps == before + 1);
            if (!in_step(cpu)) continue;
            core.system.set<reg::HSR>(0x8200'0022); // and its step is over
            core.frame.pc = cpu.step.stop;
            rig.simulation.synchronize(core);
            run_hyp_code(rig.simulation, core, cpu, core.frame);
        }
    });
    rig.program(0).mov(0, at::fifo + 8).mov(2, 5).ldr(1, 0).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
}

TEST_CASE("the fast path finds the pages that may be traced, and no others") {
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

namespace {

/// Reads the rings while two CPUs fill them by the fast path, as abi/ring.hpp allows, and checks
/// in-flight accesses and slots being written. In memory that keeps only the order that barriers
/// require.
class Watching {
public:
    Watching(abi::EngineKind engine, std::uint64_t seed);
    /// What violated a promise; empty if nothing.
    std::string run();
    /// The instructions that were seen in flight.
    void add_flights(std::set<std::uint32_t>& pcs) const {
        for (const Flight& flight : flights_) pcs.insert(flight.pc);
    }

private:
    static constexpr unsigned cpus = 2;
    static constexpr unsigned rounds = 12;
    static constexpr std::uint64_t marked = 0x5a5a'5a5a'5a5a'5a5a; ///< `value` of old records

    struct Flight {
        unsigned cpu;
        std::uint64_t time;
        std::uint32_t pc;
        std::uint64_t pa;
    };
    struct Seen {
        unsigned cpu;
        std::uint64_t position;
        abi::Record record;
    };

    RigOptions options(abi::EngineKind engine, std::uint64_t seed);
    void look();
    void fill_slots();
    const abi::Record& slot(unsigned cpu, std::uint64_t position) const {
        const abi::RingHeader& ring = rig_.ring(cpu);
        return reinterpret_cast<const abi::Record*>(&ring + 1)[position % ring.capacity];
    }
    void read(unsigned cpu);
    void look_at_slots(unsigned cpu) const;

    Rig rig_;
    std::vector<Seen> seen_;
    std::vector<Flight> flights_;
    std::uint64_t tail_[cpus]{};
    std::uint64_t promised_[cpus]{}; ///< no later record is older
    std::uint64_t finished_[cpus]{}; ///< time of the last access known to be over
    std::uint64_t last_[cpus]{};     ///< time of the last record read
};

RigOptions Watching::options(abi::EngineKind engine, std::uint64_t seed) {
    constexpr unsigned switches[] = {1, 2, 4};
    constexpr unsigned delays[] = {2, 8, 40};
    RigOptions options = options_for(engine, cpus, seed);
    options.conditions.switch_one_in = switches[seed % 3];
    options.conditions.late_one_in = delays[seed / 3 % 3];
    options.conditions.steps_per_tick = 1;
    options.tree.policy = "flight";
    options.read_when = [this](Rig&) { return look(), false; };
    return options;
}

Watching::Watching(abi::EngineKind engine, std::uint64_t seed) : rig_(options(engine, seed)) {
    // If the device never answers, the mark is all that there is of the access. Those of the start,
    // which are Hyp's own, have none.
    rig_.simulation.bus.on_arrival = [this](const BusAccess& access) {
        const auto& mark = rig_.ring(access.cpu).in_flight;
        const auto seen = rig_.simulation.memory.load(access.cpu, &mark, sizeof mark);
        if (rig_.machine != nullptr && !abi::has_begun(static_cast<abi::InFlight>(seen)))
            throw Failure{"an access comes to its device before its mark"};
    };
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        Code code = rig_.program(cpu);
        code.mov(2, rounds).mov(0, at::fifo + 8).mov(4, at::gadget + 8).mov(5, at::fifo + 0x800);
        const std::uint32_t top = code.here();
        code.ldr(1, 0).str(2, 4, 4).ldr(1, 5).str(2, 0, 4).ldrh(1, 4, 2);
        code.subs(2, 2, 1).bne(top).end();
    }
}

void Watching::look() {
    for (unsigned cpu = 0; cpu < cpus; ++cpu) read(cpu);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) look_at_slots(cpu);
}

void Watching::read(unsigned cpu) {
    const abi::RingHeader& ring = rig_.ring(cpu);
    const bool all_read = ring.head == tail_[cpu];
    rig_.simulation.scheduler.point();
    const std::uint64_t now = rig_.simulation.now();
    abi::InFlight state = ring.in_flight;
    Flight flight{cpu, ring.in_flight_time, ring.in_flight_pc, ring.in_flight_pa};
    if (abi::is_slot_mark(state)) {
        rig_.simulation.scheduler.point();
        const abi::Record begun =
            slot(cpu, abi::slot_of(state, rig_.simulation.ram.address_of(&slot(cpu, 0)).value));
        rig_.simulation.scheduler.point();
        flight = {cpu, begun.time, begun.pc, begun.pa_low};
        if (begun.commit != 0 || ring.in_flight != state)
            state = abi::InFlight::beginning; // it has gone on
    }
    rig_.simulation.scheduler.point();
    if (state == abi::InFlight::none && all_read) finished_[cpu] = last_[cpu];
    if (abi::has_begun(state) && flight.time <= finished_[cpu])
        throw Failure{"an access in flight has the time of one before it"};
    if (abi::has_begun(state)) flights_.push_back(flight);
    const std::uint64_t head = ring.head;
    for (; tail_[cpu] != head; ++tail_[cpu]) {
        rig_.simulation.scheduler.point();
        const abi::Record record = slot(cpu, tail_[cpu]);
        if (record.commit != abi::commit_word(ring.boot_number, tail_[cpu]))
            throw Failure{"a record below the head is not there"};
        if (record.time < promised_[cpu])
            throw Failure{"a record is older than its CPU had promised"};
        if (record.value == marked) throw Failure{"a record has another one's value"};
        seen_.push_back({cpu, tail_[cpu], record});
        last_[cpu] = record.time;
    }
    if (state == abi::InFlight::none) promised_[cpu] = std::max(promised_[cpu], now);
    if (abi::has_begun(state)) promised_[cpu] = std::max(promised_[cpu], flight.time);
}

/// A slot with an old commit word contains its old record.
void Watching::look_at_slots(unsigned cpu) const {
    const abi::RingHeader& ring = rig_.ring(cpu);
    for (std::uint64_t position = ring.head; position < ring.head + 2; ++position) {
        const abi::Record& record = slot(cpu, position);
        const auto before = abi::commit_word(ring.boot_number, position - ring.capacity);
        if (record.commit == before && (record.value != marked || record.pc != 0))
            throw Failure{"a slot has lost its record, and not its commit word"};
        if (record.commit == abi::commit_word(ring.boot_number, position) && record.value == marked)
            throw Failure{"a slot has a commit word, and not its record"};
    }
}

/// Fills slots as the previous boot would have left them.
void Watching::fill_slots() {
    const std::uint64_t area = 0x8200'0000 + abi::area_offset; // the simulated image's
    const AreaLayout layout(TreeOptions{}.area_size, cpus);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        for (std::uint64_t n = 0; n < layout.capacity(); ++n) {
            abi::Record record{};
            record.commit = abi::commit_word(1, n - layout.capacity());
            record.value = marked;
            rig_.simulation.ram.store(area + layout.ring_offset(cpu) + sizeof(abi::RingHeader) +
                                          n * sizeof record,
                                      record);
        }
    }
}

std::string Watching::run() {
    fill_slots();
    rig_.run();
    if (!rig_.failure().empty()) return rig_.failure();
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
        if (rig_.ring(cpu).in_flight != abi::InFlight::none)
            return "an access that has ended is still in flight";
    for (const Seen& seen : seen_)
        if (std::memcmp(&seen.record, &slot(seen.cpu, seen.position), sizeof seen.record) != 0)
            return "a record was read that was never written";
    for (const Flight& flight : flights_) {
        const auto& records = rig_.records(flight.cpu);
        const bool told = std::any_of(records.begin(), records.end(), [&](const abi::Record& r) {
            return r.time == flight.time && r.pc == flight.pc &&
                   (abi::physical_address(r) == flight.pa || r.type != abi::RecordType::access);
        });
        if (!told) return "what was in flight is no access that was made";
    }
    return flights_.empty() || seen_.size() < 5 * rounds ? "the reader has seen too little" : "";
}

} // namespace

TEST_CASE("a reader may rely on the head, commit word and in-flight mark of the fast path",
          "[protocol]") {
    const auto engine = GENERATE(values(engines));
    std::set<std::uint32_t> in_flight;
    for (std::uint64_t seed = 1; seed <= seeds(24); ++seed) {
        CAPTURE(seed);
        Watching watching(engine, seed);
        REQUIRE(watching.run() == "");
        watching.add_flights(in_flight);
    }
    CHECK(in_flight.size() >= 10); // five accesses of two CPUs
}

TEST_CASE("CPUs on the fast path record their accesses in the order of the bus", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        run(engine, 3, seed, false);
    }
}

TEST_CASE("the stream is sent between accesses, but not in a step", "[protocol]") {
    constexpr unsigned accesses = 600; // the devices go first, 64 bytes at each turn
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
        // The fast path gives the stream its turn before the step; no C++ runs after it.
        sent_in_step |= options.tree.slow_path && in_step(rig.machine->cpus[0]) && tail != sent;
        sent = tail;
    };
    Code code = rig.program(0);
    code.mov(0, at::fifo + 8);
    for (unsigned n = 0; n < accesses; ++n) code.ldr(1, 0);
    code.end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(left <= 6 + 8); // a turn every sixth access, which takes up to 8 records
    CHECK(!sent_in_step);
}

namespace {

bool is_slow(const mmioscope::Cpu& cpu) {
    return cpu.fast.handler == port::fast_code(FastCode::slow);
}

/// CPU 0 has booted and made an access; then it executes one more instruction of its guest, `word`,
/// after another CPU's actions under the locks.
template <class Meanwhile>
void execute_behind(Rig& rig, std::uint32_t word, Meanwhile&& meanwhile) {
    rig.on_end(0, [&rig, word, meanwhile](Core& core, mmioscope::Cpu& cpu) {
        CHECK(!is_slow(cpu));
        meanwhile(*rig.machine);
        choose_fast_regions(*rig.machine);
        Code(rig.simulation.ram, core.frame.pc).word(word).end();
        core.ended = false;
        GuestCpu(rig.simulation, core, cpu).run();
        CHECK(is_slow(cpu) == rig.services.choice.any);
    });
    rig.program(0).mov(0, at::fifo + 8).ldr(1, 0).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
}

constexpr std::uint32_t plain_load = 0xe590'1000;  // ldr r1, [r0]
constexpr std::uint32_t plain_store = 0xe580'1000; // str r1, [r0]

} // namespace

TEST_CASE("a device or filter switched by another CPU takes effect at the fast path's next access",
          "[protocol]") {
    const bool filter = GENERATE(false, true);
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    const std::uint32_t access = GENERATE(plain_load, plain_store);
    execute_behind(rig, access, [&](Machine& machine) {
        if (filter) {
            rig.services.choice.filter.pattern.directions = access == plain_load ? 2 : 1;
            rig.services.choice.any = true;
            return;
        }
        for (Span& span : machine.map)
            if (span.range.contains(at::fifo)) span.tracing = 0, span.mapped = Mapped::in_steps;
    });
    CHECK(rig.records_of(abi::RecordType::access).size() == 2);
    CHECK(rig.ring(0).statistics.filtered == (filter ? 1 : 0));
    CHECK(rig.ring(0).statistics.unselected == (filter ? 0 : 1));
}

TEST_CASE("another CPU's request for a filter takes effect at the fast path's next access",
          "[protocol]") {
    using abi::control::Command;
    Rig rig(options_for(GENERATE(values(engines)), 2, 1));
    rig.program(1).end();
    execute_behind(rig, plain_load, [&](Machine& machine) {
        const auto reply =
            execute(machine.cpus[1], abi::control::make_request(Command::filter_directions, 7, 2));
        REQUIRE(reply);
        CHECK(reply->status == abi::control::Status::done);
    });
    CHECK(rig.ring(0).statistics.filtered == 1);
}

TEST_CASE("with nothing traced no access is tried on the fast path") {
    RigOptions options = options_for(GENERATE(values(engines)), 1, 1);
    options.tree.trace = {"none"};
    Rig rig(options);
    bool tried = false;
    rig.simulation.meanwhile = [&](const Core&) { tried |= !is_slow(rig.machine->cpus[0]); };
    rig.program(0).mov(0, at::sysreg + 0xa0).ldr(1, 0).ldr(1, 0).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.ring(0).statistics.unselected == 3);
    CHECK(!tried);
}

TEST_CASE("with a filter the next access is not tried on the fast path") {
    const bool filter = GENERATE(false, true);
    Rig rig(options_for(abi::EngineKind::emulation, 1, 1));
    constexpr std::uint32_t store_writeback = 0xe480'2004; // the slow path's
    execute_behind(rig, store_writeback, [&](Machine&) { rig.services.choice.any = filter; });
}
