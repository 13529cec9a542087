// Pages that move between CPUs: each move has its record, and the guest notices nothing.
#include "bringup/bringup.hpp"
#include "catch_2_or_3.hpp"
#include "sim/guest_cpu.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"
#include "trap/fast_path.hpp"
#include "unit/control/asking.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::MoveBy;

namespace {

constexpr std::uint32_t first = 0x80a0'0000; ///< of the pages that move
constexpr unsigned page_count = 4;
constexpr std::uint32_t counter = first + 0x40;
constexpr std::uint32_t stub = first + 0x2800;         ///< code there,
constexpr std::uint32_t other_stub = 0x8032'0000;      ///< and the same elsewhere
constexpr std::uint32_t second_level = first + 0x3c00; ///< a page table there
constexpr std::uint32_t first_level = 0x8030'0000;
constexpr std::uint32_t window = 0x4000'0000; ///< leads to the fifo
constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f, strex_r4_r1 = 0xe180'4f91, cmp_r4_0 = 0xe354'0000;
constexpr unsigned rounds = 12;
// A function that has a probe, in a page that moves and elsewhere; its stack is in one that moves.
constexpr std::uint32_t function = first + 0x2c00, other_function = 0x8034'0000;
constexpr std::uint32_t push_r4_lr = 0xe92d'4010, pop_r4_lr = 0xe8bd'4010;

/// What a test does beside.
struct Beside {
    bool off{};       ///< CPU 1 does it all twice, and is off between
    unsigned limit{}; ///< of moves in a row; 0: none
    bool probes{};    ///< the functions have probes; interrupts come
};

RigOptions moving(unsigned cpus, std::uint64_t seed, Beside beside) {
    RigOptions options = options_for(
        seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, cpus, seed);
    options.conditions.exceptions_clear_monitor = seed % 3 == 0;
    options.conditions.keeps_old_code = true;
    options.conditions.steps_per_tick = 1;
    options.tree.pages = std::vector<std::uint32_t>{first, page_count * 0x1000};
    options.tree.slow_path = seed % 5 == 0;
    if (beside.limit != 0) options.tree.pages->insert(options.tree.pages->begin(), beside.limit);
    if (!beside.probes) return options;
    constexpr std::uint32_t returns = abi::control::returns;
    options.tree.probes = true;
    options.tree.probe_cells = {0, function | returns, push_r4_lr, other_function, push_r4_lr};
    options.conditions.interrupt_one_in = 30;
    options.conditions.code_dropped_one_in = seed % 2 == 0 ? 4 : 60;
    return options;
}

/// TTBR0, DACR and SCTLR: all is at its place, and the fifo in the window, too, by a table in a
/// page that moves.
void write_tables(Ram& ram) {
    constexpr std::uint32_t section = 0xc02, small_page = 3u << 4 | 2; // full access
    for (const std::uint32_t begin : {0x8000'0000u, 0x8200'0000u, 0x1c00'0000u})
        for (std::uint32_t va = begin; va < begin + 0x0200'0000; va += 1 << 20)
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
    ram.store<std::uint32_t>(first_level + (window >> 20 << 2), second_level | 1);
    ram.store<std::uint32_t>(second_level, at::fifo | small_page);
}
void turn_mmu_on(Code& code) {
    code.mov(0, first_level).word(0xee02'0f10).mov(0, 0x5555'5555).word(0xee03'0f10);
    code.mov(0, 0x00c5'0079).word(0xee01'0f10).word(0xf57f'f06f);
}

/// `rounds` of an increment by an exclusive pair, of words of its own beside those of others, of a
/// word that nobody changes, of a store to code and table, and of a traced access by code in a
/// page.
void write_user(Rig& rig, unsigned cpu, bool probes) {
    Code code = rig.program(cpu);
    turn_mmu_on(code);
    code.mov(12, 0).mov(13, first + 0x10f0 + 0x100 * cpu);
    if (probes) code.cpsie_aif();
    code.mov(0, counter)
        .mov(5, first + 0x1000 + 0x100 * cpu)
        .mov(3, rounds)
        .mov(9, window)
        .mov(7, cpu % 2 == 0 ? stub : other_stub)
        .mov(8, cpu == 0 ? 0 : first + 0x3800 + 0x100 * cpu);
    const std::uint32_t loop = code.here();
    code.word(ldrex_r1).add(1, 1, 1).word(strex_r4_r1).word(cmp_r4_0).bne(loop);
    code.ldr(2, 5).add(2, 2, 1).str(2, 5).ldr(10, 5, 0xc0).ldm(5, 1 << 10 | 1 << 11);
    code.add(14, 15, 0).bx(7); // LR: behind the BX
    if (probes && cpu == 0) {  // the page of the function changes
        constexpr std::uint32_t beside = function + 0x40, nop = 0xe320'f000;
        ask_and_note(code, abi::control::make_request(Command::probe, 1, beside, nop));
        ask_and_note(code, abi::control::make_request(Command::unprobe, 2, beside));
        code.mov(5, first + 0x1000).mov(7, stub);
    }
    if (probes) code.mov(6, cpu % 2 == 0 ? function : other_function).add(14, 15, 0).bx(6);
    if (cpu == 1) code.str(2, 8);
    code.subs(3, 3, 1).bne(loop).end();
}

struct Touch {
    std::uint64_t time;
    unsigned cpu;
    std::uint64_t page;
    bool write;
};

/// Who has a page, by the records.
struct Has {
    unsigned holders{};
    bool writable{};
    bool free{}; ///< all CPUs have it

    bool lets(const Touch& touch) const {
        return free || ((holders >> touch.cpu & 1) != 0 && (writable || !touch.write));
    }
};

/// Whether the records of the moves explain all that the guest has done: what is wrong, or nothing.
std::string judge_moves(const Rig& rig, const std::vector<Touch>& touches, std::size_t& moves,
                        unsigned& taken_back) {
    std::vector<abi::Record> records = rig.records_of(abi::RecordType::move);
    std::ranges::stable_sort(records, {}, &abi::Record::time);
    std::map<std::uint64_t, Has> pages;
    std::size_t next = 0;
    moves = 0;
    const auto replay = [&](std::uint64_t until) -> std::string {
        for (; next < records.size() && records[next].time <= until; ++next) {
            const abi::Record& r = records[next];
            Has& has = pages[page_floor(abi::physical_address(r))];
            const MoveBy by = abi::move_by(r.value);
            if (by == MoveBy::freed || by == MoveBy::taken_back) {
                if (has.free != (by == MoveBy::taken_back)) return "a record of what is so already";
                has = {.free = by == MoveBy::freed};
                taken_back += by == MoveBy::taken_back;
                continue;
            }
            if (abi::move_holders(r.value) != has.holders ||
                abi::move_writable(r.value) != has.writable)
                return "a record of others than had the page";
            const bool store = by == MoveBy::store;
            if (has.lets({r.time, r.cpu, 0, store})) return "a move to where the page is";
            moves += has.holders != 0;
            has = {store ? 1u << r.cpu : has.holders | 1u << r.cpu, store};
        }
        return "";
    };
    for (const Touch& touch : touches) {
        if (auto e = replay(touch.time); !e.empty()) return e;
        if (!pages[touch.page].lets(touch))
            return "a move without a record: page " + std::to_string((touch.page - first) >> 12) +
                   " cpu " + std::to_string(touch.cpu) + (touch.write ? " w" : " r") + " at " +
                   std::to_string(touch.time) + " next " + std::to_string(next) + " of " +
                   std::to_string(records.size()) + " at " +
                   std::to_string(next < records.size() ? records[next].time : 0);
    }
    return replay(~0ull);
}

/// A move counts as no access, though it may have the slot of one.
bool counts_accesses(const Rig& rig, unsigned cpu) {
    const abi::Statistics& counted = rig.ring(cpu).statistics;
    const auto accesses =
        std::ranges::count(rig.records_of(abi::RecordType::access), cpu, &abi::Record::cpu);
    return counted.emulated + counted.stepped - counted.retries ==
           static_cast<std::uint64_t>(accesses);
}

/// Each call, and each return from the function that moves, is a record of that CPU.
std::string judge_probes(const Rig& rig, unsigned count, bool probes) {
    const auto by = [&rig](abi::RecordType type, unsigned cpu) {
        return std::ranges::count(rig.records_of(type), cpu, &abi::Record::cpu);
    };
    if (probes && status_of(rig.reg(0, 8)) != Status::done) return "a request is refused";
    for (unsigned cpu = 0; cpu < count; ++cpu) {
        const unsigned calls = probes ? rounds : 0, returns = cpu % 2 == 0 ? calls : 0;
        if (rig.reg(cpu, 12) != calls) return "a call is lost";
        if (by(abi::RecordType::call, cpu) != calls) return "records of calls";
        if (by(abi::RecordType::ret, cpu) != returns) return "records of returns";
    }
    return "";
}

/// As by PSCI: the CPU is off for a while, misses what the others want to be forgotten, and begins
/// anew.
void turn_off_and_on(Rig& rig, Core& core, mmioscope::Cpu& cpu) {
    constexpr std::uint32_t smp = 0x40; // ACTLR
    if (fast_path_is_open(cpu)) close_fast_path(cpu);
    record_power(cpu, abi::PowerEvent::cpu_off, core.frame.pc);
    rig.machine->power.set(cpu.number, CpuPower::off);
    rig.simulation.complete_system();
    core.system.set<reg::ACTLR>(core.system.get<reg::ACTLR>() & ~smp);
    core.missed_maintenance = core.icache_unknown = true;
    for (unsigned n = 0; n < 20'000; ++n) rig.simulation.scheduler.point();
    core.system.set<reg::ACTLR>(core.system.get<reg::ACTLR>() | smp);
    rig.machine->power.prepare(cpu.number, CpuPower::off, {rig.program(cpu.number).here(), 0});
    core.frame = start_by_firmware(*rig.machine, cpu);
    core.ended = false;
    GuestCpu(rig.simulation, core, cpu).run();
}

/// Moves that took a page from CPU 1 while it was off.
unsigned count_taken_while_off(const Rig& rig) {
    std::uint64_t off = ~0ull, on = 0;
    for (const abi::Record& r : rig.records_of(abi::RecordType::power)) {
        if (r.cpu != 1) continue;
        if (r.value == abi::power_value(abi::PowerEvent::cpu_off, 1)) off = r.time;
        on = std::max(on, r.time);
    }
    unsigned taken = 0;
    for (const abi::Record& r : rig.records_of(abi::RecordType::move))
        taken += r.time > off && r.time < on && (abi::move_holders(r.value) & 2) != 0 &&
                 abi::move_by(r.value) == MoveBy::store;
    return taken;
}

/// How often, so that a test knows that it has tested something.
struct Seen {
    unsigned taken_while_off{}, taken_back{};
};

/// What is wrong, or nothing.
std::string judge(unsigned count, std::uint64_t seed, Beside beside, Seen& seen) {
    Rig rig(moving(count, seed, beside));
    const unsigned users = count + beside.off;
    if (beside.off)
        rig.on_end(1, [&](Core& core, mmioscope::Cpu& cpu) { turn_off_and_on(rig, core, cpu); });
    for (const std::uint32_t at : {stub, other_stub})
        Code(rig.simulation.ram, at).ldr(2, 9).ldr_post(6, 9, 0).bx(14);
    for (const std::uint32_t at : {function, other_function})
        Code(rig.simulation.ram, at).word(push_r4_lr).add(12, 12, 1).word(pop_r4_lr).bx(14);
    Code(rig.simulation.ram, function + 0x40).nop();
    write_tables(rig.simulation.ram);
    for (unsigned cpu = 0; cpu < count; ++cpu) write_user(rig, cpu, beside.probes);
    for (unsigned n = 0; n < page_count; ++n)
        rig.simulation.speculated.push_back(first + n * 0x1000);
    std::vector<Touch> touches;
    rig.simulation.touched = [&](Core& core, std::uint64_t at, bool write) {
        if (at >= first && at < first + page_count * 0x1000 &&
            (!beside.probes || page_floor(at) != page_floor(function)))
            touches.push_back({rig.simulation.now(), core.number, page_floor(at), write});
    };
    std::string wrong;
    rig.simulation.meanwhile = [&](Core&) {
        for (unsigned n = 0; n < page_count; ++n) {
            const std::uint64_t page = first + n * 0x1000;
            if (beside.limit != 0 || (beside.probes && page == page_floor(function))) continue;
            unsigned readers = 0, writers = 0;
            for (unsigned cpu = 0; cpu < count; ++cpu) {
                const lpae::Descriptor normal = rig.machine->normal(cpu).lookup(page);
                if (normal != rig.machine->shadow(cpu).lookup(page)) wrong = "the views differ";
                readers += lpae::is_valid(normal);
                writers +=
                    lpae::is_valid(normal) && (normal & lpae::s2_read_write) == lpae::s2_read_write;
            }
            if (writers > 1 || (writers == 1 && readers > 1)) wrong = "two CPUs have the page";
        }
    };
    rig.run();
    if (!wrong.empty()) return wrong;
    if (!rig.failure().empty()) return rig.failure();
    if (rig.text().find(abi::stop_line) != std::string::npos) return rig.text();
    if (rig.services.integrity.find_damage(false).name != nullptr) return "damage";
    if (rig.simulation.ram.load<std::uint32_t>(counter) != users * rounds) return "lost increments";
    for (unsigned cpu = 0; cpu < count; ++cpu)
        if (rig.simulation.ram.load<std::uint32_t>(first + 0x1000 + 0x100 * cpu) !=
            rounds * (beside.off && cpu == 1 ? 2 : 1))
            return "a lost store";
    for (unsigned cpu = 0; cpu < count && !beside.probes; ++cpu)
        if (!counts_accesses(rig, cpu)) return "another number of accesses is counted";
    if (auto e = compare_with_bus(rig); !e.empty()) return e;
    for (const abi::Record& fault : rig.records_of(abi::RecordType::fault))
        return "a fault, reason " + std::to_string(fault.value);
    if (!rig.records_of(abi::RecordType::fetch).empty()) return "a fetch";
    if (rig.bus_log(at::fifo, 4).size() != 2 * users * rounds) return "accesses of a step";
    if (auto e = judge_probes(rig, count, beside.probes); !e.empty()) return e;
    std::size_t moves = 0;
    if (auto e = judge_moves(rig, touches, moves, seen.taken_back); !e.empty()) return e;
    seen.taken_while_off += count_taken_while_off(rig);
    return count == 1 || moves > count ? "" : "no moves";
}

} // namespace

TEST_CASE("pages move between CPUs: each move is a record, and all CPUs get on", "[protocol]") {
    Seen seen;
    for (std::uint64_t seed = 1; seed <= seeds(16); ++seed) {
        CAPTURE(seed);
        REQUIRE(judge(1 + seed % 4, seed, {}, seen) == "");
    }
}

TEST_CASE("a page that moves too often is free for a while, between two records", "[protocol]") {
    Seen seen;
    for (std::uint64_t seed = 1; seed <= seeds(48); ++seed) {
        CAPTURE(seed);
        REQUIRE(judge(2 + seed % 3, seed, {.limit = 1 + static_cast<unsigned>(seed % 4)}, seen) ==
                "");
    }
    CHECK(seen.taken_back > 0);
}

TEST_CASE("pages move while their code and their users have probes: each call is a record, too",
          "[protocol]") {
    Seen seen;
    for (std::uint64_t seed = 1; seed <= seeds(24); ++seed) {
        CAPTURE(seed);
        REQUIRE(judge(1 + seed % 4, seed, {.probes = true}, seen) == "");
    }
}

TEST_CASE("pages of a CPU that is off are taken from it; when it comes back it has to get them",
          "[protocol]") {
    Seen seen;
    for (std::uint64_t seed = 1; seed <= seeds(32); ++seed) {
        CAPTURE(seed);
        REQUIRE(judge(2 + seed % 3, seed, {.off = true}, seen) == "");
    }
    CHECK(seen.taken_while_off > 0);
}

TEST_CASE("memory in two parts moves, and nothing is between them", "[protocol]") {
    RigOptions options = moving(2, 2, {});
    options.tree.pages->insert(options.tree.pages->end(), {0x0800'0000, 0x1000});
    options.blob = with_room(make_board_tree(options.tree));
    const int memory = fdt_path_offset(options.blob.data(), "/memory@80000000");
    for (const std::uint32_t cell : {0u, 0x0800'0000u, 0u, 0x20'0000u})
        REQUIRE(fdt_appendprop_u32(options.blob.data(), memory, "reg", cell) == 0);
    Rig rig(options);
    for (unsigned cpu = 0; cpu < 2; ++cpu) rig.program(cpu).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.text().find(abi::stop_line) == std::string::npos);
}
