// Watched memory: each access has its record, in order, and the guest notices nothing.
#include "catch_2_or_3.hpp"
#include "unit/control/asking.hpp"

#include <algorithm>
#include <map>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;
using abi::control::WatchEnd;

namespace {

constexpr std::uint32_t page = 0x8060'0000;
constexpr std::uint32_t counter = page + 0x40;
constexpr std::uint32_t ldrex_r1 = 0xe190'1f9f, ldrex_r2 = 0xe190'2f9f, strex_r4_r1 = 0xe180'4f91,
                        cmp_r4_0 = 0xe354'0000;

/// Whether all other memory is in pages that move.
constexpr bool moves(std::uint64_t seed) {
    return seed % 8 == 3 || seed % 8 == 6;
}

RigOptions watching(std::uint64_t seed, std::vector<std::uint32_t> from_the_start,
                    unsigned cpus = 2) {
    RigOptions options = options_for(
        seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, cpus, seed);
    options.tree.watch = std::move(from_the_start);
    options.tree.slow_path = seed % 5 == 0;
    if (moves(seed)) options.tree.pages.emplace();
    options.conditions.exceptions_clear_monitor = seed % 3 == 0;
    return options;
}

/// `rounds` of an increment by an exclusive pair, and of accesses to words of its own, in each of
/// the forms that HSR does and does not describe. r6: load-exclusives.
void write_user(Code code, unsigned cpu, unsigned rounds) {
    code.mov(0, counter).mov(5, page + 0x100 * cpu).mov(3, rounds).mov(6, 0).mov(9, at::fifo);
    const std::uint32_t loop = code.here();
    code.word(ldrex_r1).add(6, 6, 1).add(1, 1, 1).word(strex_r4_r1).word(cmp_r4_0).bne(loop);
    code.str(1, 5).ldr(2, 5, 4).add(2, 2, 1).str(2, 5, 4).strb(2, 5, 8).ldm(5, 1 << 7 | 1 << 8);
    code.ldr(10, 9).add(11, 5, 12).str_post(2, 11, 4).subs(3, 3, 1).bne(loop).end();
}

/// Whether the records are of accesses that happened in their order, from memory full of zeros.
std::string judge(std::vector<abi::Record> records) {
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.lock_sequence < b.lock_sequence; });
    std::map<std::uint64_t, std::uint8_t> memory;
    for (std::uint32_t n = 0; n < records.size(); ++n) {
        const abi::Record& r = records[n];
        if (r.lock_sequence != n + 1) return "a gap in lock_sequence";
        for (unsigned byte = 0; byte < abi::access_size(r); ++byte) {
            const auto value = static_cast<std::uint8_t>(r.value >> 8 * byte);
            std::uint8_t& there = memory[abi::physical_address(r) + byte];
            if (abi::is_write(r)) there = value;
            else if (there != value) return "a load of what was not stored last";
        }
    }
    return "";
}

std::vector<abi::Record> accesses_to_memory(const Rig& rig) {
    std::vector<abi::Record> found;
    for (const abi::Record& record : rig.records_of(abi::RecordType::access))
        if (record.device == rig.machine->regions.size() - 1) found.push_back(record);
    return found;
}

/// Why pages were given back, in order.
std::vector<WatchEnd> ends_of(const Rig& rig) {
    std::vector<WatchEnd> ends;
    for (const abi::Record& r : rig.records_of(abi::RecordType::configuration)) {
        const auto why = static_cast<WatchEnd>(r.value >> 32 >> abi::control::watch_end_shift);
        if (abi::control::tag_command(r.pa_low) == Command::unwatch && why != WatchEnd::request)
            ends.push_back(why);
    }
    return ends;
}

void check_machine(Rig& rig) {
    REQUIRE(rig.failure() == "");
    CAPTURE(rig.text());
    REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
    REQUIRE(rig.services.integrity.find_damage(false).name == nullptr);
    CHECK(rig.records_of(abi::RecordType::fault).empty());
}

} // namespace

TEST_CASE("each access to a watched page has its record, and exclusives come through",
          "[protocol]") {
    constexpr unsigned rounds = 12;
    for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
        CAPTURE(seed);
        Rig rig(watching(seed, {page, page_size}));
        for (unsigned cpu = 0; cpu < 2; ++cpu) write_user(rig.program(cpu), cpu, rounds);
        rig.simulation.stale_words[counter] =
            0; // the guest's cache has its line, not yet written back
        rig.run();
        check_machine(rig);
        CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == 2 * rounds);
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            CHECK(rig.simulation.ram.load<std::uint32_t>(page + 0x100 * cpu + 4) == rounds);
        const std::vector<abi::Record> there = accesses_to_memory(rig);
        const auto count = [&](bool write, std::uint64_t begin, std::uint64_t end) {
            return std::count_if(there.begin(), there.end(), [&](const abi::Record& r) {
                const std::uint64_t at = abi::physical_address(r);
                return abi::is_write(r) == write && at >= begin && at < end;
            });
        };
        CHECK(count(false, counter, counter + 4) == rig.reg(0, 6) + rig.reg(1, 6));
        CHECK(count(true, counter, counter + 4) == 2 * rounds);
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            const std::uint32_t own = page + 0x100 * cpu;
            CHECK(count(false, own, own + 0x20) == 3 * rounds);
            CHECK(count(true, own, own + 0x20) == 4 * rounds);
        }
        CHECK(judge(there) == "");
    }
}

TEST_CASE("a load-exclusive and its store make one step, by two CPUs", "[protocol]") {
    constexpr unsigned rounds = 12;
    for (std::uint64_t seed = 1; seed <= seeds(24); ++seed) {
        CAPTURE(seed);
        const bool others = seed % 8 == 7; // are watched, so there are no records
        RigOptions options = watching(seed, {page, page_size});
        if (seed % 8 > 4) options.tree.watch = {others ? counter + 4 : counter, 4};
        options.conditions.monitor_asked_first = seed % 4 < 2;
        Rig rig(options);
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code code = rig.program(cpu);
            code.mov(0, counter).mov(3, rounds).mov(6, 0).add(14, 0, 0);
            const std::uint32_t loop = code.here();
            // One loses what it has loaded, so it is followed; one has only the sum.
            const std::uint32_t orr_r1 = 0xe381'1000, add_r1_r6 = 0xe081'1006,
                                sub_lr_r1_r6 = 0xe041'e006;
            const bool followed = seed % 3 == 0 && cpu == 1, sum = seed % 3 == 0 && cpu == 0;
            if (sum)
                code.add(6, 6, 1).word(ldrex_r1).word(add_r1_r6).word(sub_lr_r1_r6).add(14, 14, 1);
            else
                code.word(ldrex_r1).add(6, 6, 1).add(14, 1, 1).word(followed ? orr_r1
                                                                             : 0xe1a0'2001);
            code.word(0xe180'4f9e).word(cmp_r4_0).bne(loop); // STREX r4, lr, [r0]
            code.subs(3, 3, 1).bne(loop).end();
        }
        rig.run();
        check_machine(rig);
        CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == 2 * rounds);
        const auto there = accesses_to_memory(rig);
        CHECK(judge(there) == "");
        const std::uint32_t all = rig.reg(0, 6) + rig.reg(1, 6) + 2 * rounds;
        CHECK(there.size() == (others ? 0 : all));
        std::uint64_t unselected = 0;
        for (unsigned cpu = 0; cpu < 2; ++cpu) unselected += rig.ring(cpu).statistics.unselected;
        CHECK(unselected == (others ? all : 0));
        for (const abi::Record& r : there) {
            const bool followed = seed % 3 == 0 && r.cpu == 1;
            CHECK((r.access & abi::access_emulated) ==
                  (followed && abi::is_write(r) ? abi::access_emulated : 0));
            if (abi::is_write(r)) CHECK(r.lr == r.value);
        }
    }
}

TEST_CASE("what lies between a load-exclusive and its store decides how they are made") {
    struct Form {
        std::vector<std::uint32_t> code; ///< r0: counter, which has 5; r2: 9
        unsigned writes;
        std::uint32_t status; ///< r4, before 77
        bool together;
    };
    constexpr std::uint32_t strex_r4_r2 = 0xe180'4f92, strexeq_r4_r2 = 0x0180'4f92;
    const Form forms[] = {
        {{ldrex_r1, strex_r4_r2}, 1, 0, true},
        {{ldrex_r1, 0xe251'7005, strexeq_r4_r2}, 1, 0, true},            // SUBS r7, r1, #5
        {{ldrex_r1, 0xe251'7006, strexeq_r4_r2}, 0, 77, true},           // SUBS r7, r1, #6
        {{ldrex_r1, 0xe251'4005, 0x1180'4f92}, 0, 0, true},              // SUBS r4, r1, #5; STREXNE
        {{0xe1d0'1f9f, strex_r4_r2 | 0x0040'0000}, 1, 0, true},          // bytes
        {{0xe1f0'1f9f, strex_r4_r2 | 0x0060'0000}, 1, 0, true},          // halfwords
        {{ldrex_r1, 0xe1a0'2112, strex_r4_r2}, 1, 0, true},              // LSL r2, r2, r1
        {{ldrex_r1, 0xe300'2123, strex_r4_r2}, 1, 0, false},             // MOVW
        {{ldrex_r2, 0xe282'2cff, strex_r4_r2}, 1, 0, true},              // ADD r2, r2, #0xff00
        {{ldrex_r2, 0xe042'2003, strex_r4_r2}, 1, 0, true},              // SUB r2, r2, r3
        {{ldrex_r2, 0xe282'2001, 0xe352'0009, strex_r4_r2}, 1, 0, true}, // and CMP r2, #9
        {{ldrex_r2, 0xe202'2003, strex_r4_r2}, 1, 0, false},             // AND r2, r2, #3
        {{ldrex_r2, 0xe262'2001, strex_r4_r2}, 1, 0, false},             // RSB r2, r2, #1
        {{ldrex_r2, 0x1282'2001, strex_r4_r2}, 1, 0, false},             // ADDNE r2, r2, #1
        {{ldrex_r2, 0xe082'2002, strex_r4_r2}, 1, 0, false},             // ADD r2, r2, r2
        {{ldrex_r2, 0xe082'200f, strex_r4_r2}, 1, 0, false},             // ADD r2, r2, PC
        {{ldrex_r2, 0xe082'2103, strex_r4_r2}, 1, 0, false},             // ADD r2, r2, r3, LSL #2
        {{ldrex_r2, 0xe083'2003, strex_r4_r2}, 1, 0, false},             // ADD r2, r3, r3
        {{ldrex_r2, 0xe082'2003, 0xe3a0'3000, strex_r4_r2}, 1, 0, false}, // and MOV r3, #0
        {{ldrex_r2, 0xe082'2004, strex_r4_r2}, 1, 0, false},              // ADD r2, r2, r4
        {{ldrex_r2, 0xe1a0'7002, 0xe282'2001, strex_r4_r2}, 1, 0, false}, // MOV r7, r2 before
        {{ldrex_r1, 0xe280'0004, strex_r4_r2}, 0, 1, false},              // ADD r0, r0, #4
        {{ldrex_r1, 0xe59f'7000, strex_r4_r2}, 1, 0, false},              // LDR r7, [pc]
        {{ldrex_r1, 0xf57f'f01f, strex_r4_r2}, 0, 1, false},              // CLREX
        {{ldrex_r1, 0xe180'1f92, 0xe1a0'4001}, 1, 0, false},              // STREX r1; MOV r4, r1
        {{ldrex_r1, 0xe1a0'8008, 0xe1a0'8008, 0xe1a0'8008, 0xe1a0'8008, strex_r4_r2}, 1, 0, false},
    };
    for (std::uint64_t seed = 1; seed <= seeds(8); ++seed) {
        for (const Form& form : forms) {
            CAPTURE(seed, form.code[1]);
            Rig rig(watching(seed, {page, page_size}, 1));
            rig.simulation.ram.store(counter, 5u);
            Code code = rig.program(0);
            code.mov(0, counter).mov(2, 9).mov(3, 1234).mov(4, 77);
            for (const std::uint32_t word : form.code) code.word(word);
            code.end();
            rig.run();
            check_machine(rig);
            CHECK(rig.reg(0, 4) == form.status);
            const auto there = accesses_to_memory(rig);
            REQUIRE(there.size() == 1 + form.writes);
            CHECK(there[0].value == 5);
            if (form.writes == 0) continue;
            CHECK(there[1].value == rig.reg(0, 2));
            CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == rig.reg(0, 2));
            CHECK(((there[1].access & abi::access_emulated) == 0) == form.together);
            const auto before = static_cast<std::uint32_t>(
                std::find_if(form.code.begin(), form.code.end(),
                             [](std::uint32_t w) { return (w & 0x0f90'0ff0) == 0x0180'0f90; }) -
                form.code.begin());
            CHECK(there[1].pc == there[0].pc + 4 * before);
        }
    }
}

TEST_CASE("code that is rewritten between a load-exclusive and its store has no store") {
    const bool bkpt = GENERATE(true, false), sum = GENERATE(true, false);
    const std::uint32_t word = bkpt ? 0xe120'0070 : 0xe7f0'00f0; // or UDF
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed, bkpt, sum);
        Rig rig(watching(seed, {page, page_size}, 1));
        rig.simulation.ram.store(counter, 5u);
        Code code = rig.program(0);
        code.mov(0, counter).mov(2, 9);
        const std::uint32_t load = code.here();
        code.word(ldrex_r1).add(sum ? 1 : 2, 1, 1).word(0xe180'4f92).end();
        rig.simulation.meanwhile = [&](const Core& core) {
            if (rig.machine->cpus[0].step.armed && core.frame.pc == load)
                rig.simulation.ram.store(load + 4, word);
        };
        rig.run();
        check_machine(rig);
        Core& core = rig.simulation.cores[0];
        CHECK(core.bank(bkpt ? port::Banked::lr_abt : port::Banked::lr_und) == load + 8);
        const auto there = accesses_to_memory(rig);
        REQUIRE(there.size() == 1);
        CHECK(there[0].value == 5);
        CHECK(rig.ring(0).statistics.abnormal == 1);
    }
}

TEST_CASE("while a page is watched no access is missed, whenever that begins and ends",
          "[protocol]") {
    constexpr unsigned stores = 60, rounds = 4;
    unsigned all = 0;
    for (std::uint64_t seed = 1; seed <= seeds(120); ++seed) {
        CAPTURE(seed);
        Rig rig(watching(seed, {}));
        Code user = rig.program(1); // stores 1, 2, ... and loads each; r6: loads of another value
        user.mov(0, 0).mov(1, counter).mov(3, stores).mov(6, 0).mov(7, 1).mov(10, page + 0x5000);
        const std::uint32_t loop = user.here(); // the other page is in the same block
        user.add(0, 0, 1).str(0, 1).str(0, 10).ldr(2, 1).word(0xe152'0000).word(0x1086'6007);
        user.subs(3, 3, 1).bne(loop).end();
        Code code = rig.program(0);
        code.mov(8, 0).mov(9, at::fifo);
        const std::uint32_t begin = seed % 4 < 2 ? page : counter;
        const std::uint32_t bytes = seed % 4 < 2 ? 2 * page_size : 4;
        for (unsigned n = 0; n < rounds; ++n) {
            ask_and_note(code, make_request(Command::watch, 1, begin, bytes));
            code.ldr(2, 9).ldr(2, 9);
            ask_and_note(code, n % 2 == 0 ? make_request(Command::unwatch, 2)
                                          : make_request(Command::unwatch, 2, begin, bytes));
        }
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(1, 6) == 0);
        std::uint64_t last = 0;
        bool stored = true;
        unsigned stretches = 0;
        for (const abi::Record& r : accesses_to_memory(rig)) {
            CHECK(abi::physical_address(r) == counter);
            const bool follows =
                abi::is_write(r) ? !stored && r.value == last + 1 : stored && r.value == last;
            stretches += !follows;
            last = r.value;
            stored = abi::is_write(r);
            ++all;
        }
        CHECK(stretches <= rounds);
        if (!moves(seed)) CHECK(rig.machine->normal(0).entry(page) == nullptr); // a block again
    }
    CHECK(all > 0);
}

TEST_CASE("of some bytes of a page each access has its record, and no other has", "[protocol]") {
    constexpr unsigned rounds = 12;
    const auto own = [](unsigned cpu) { return page + 0x100 * cpu; };
    for (std::uint64_t seed = 1; seed <= seeds(24); ++seed) {
        CAPTURE(seed);
        const bool later = seed % 4 > 1; // with both engines
        RigOptions options = watching(seed, {});
        if (!later) options.tree.watch = {counter, 4, own(1) + 8, 2, own(1) + 6, 2};
        Rig rig(options);
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code code = rig.program(cpu);
            if (later && cpu == 0) {
                code.mov(8, 0);
                ask_and_note(code, make_request(Command::watch, 1, counter, 4));
                ask_and_note(code, make_request(Command::watch, 2, own(1) + 8, 2));
                ask_and_note(code, make_request(Command::watch, 3, own(1) + 6, 2));
            }
            write_user(code, cpu, rounds);
        }
        rig.run();
        check_machine(rig);
        CHECK(rig.simulation.ram.load<std::uint32_t>(counter) == 2 * rounds);
        CHECK(rig.simulation.ram.load<std::uint32_t>(own(1) + 4) == rounds);
        std::map<std::pair<std::uint64_t, bool>, unsigned> made;
        for (const abi::Record& r : accesses_to_memory(rig))
            ++made[{abi::physical_address(r), abi::is_write(r)}];
        if (!later) {
            CHECK(made[{own(1) + 4, false}] == 2 * rounds); // LDR, and one of LDM's two words
            CHECK(made[{own(1) + 4, true}] == rounds);
            CHECK(made[{own(1) + 8, true}] == rounds);
            CHECK(made[{counter, true}] == 2 * rounds);
            CHECK(made[{counter, false}] == rig.reg(0, 6) + rig.reg(1, 6));
        }
        std::erase_if(made, [&](const auto& one) {
            const std::uint64_t at = one.first.first;
            return at == counter || at == own(1) + 4 || at == own(1) + 8;
        });
        CHECK(made.empty());
    }
}

TEST_CASE("what loads PC from a watched stack goes on where the word leads", "[protocol]") {
    constexpr std::uint32_t push_r4_lr = 0xe92d'4010, pop_r4_pc = 0xe8bd'8010,
                            ldr_pc_r11 = 0xe59b'f000, push_lr = 0xe52d'e004, pop_pc = 0xe49d'f004;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Rig rig(watching(seed, {page, page_size}, 1));
        constexpr std::uint32_t first = 0x80a0'0000, second = first + 0x40, thumb = first + 0x80;
        Code(rig.simulation.ram, first).word(push_r4_lr).add(6, 6, 1).word(pop_r4_pc);
        Code(rig.simulation.ram, second).word(push_lr).add(6, 6, 2).word(pop_pc);
        Code(rig.simulation.ram, thumb).half(0x3604).half(0x4770); // ADDS r6, #4; BX lr
        Code code = rig.program(0);
        code.mov(13, page + 0x800).mov(6, 0).mov(11, page + 0x900);
        for (const std::uint32_t callee : {first, second})
            code.mov(12, callee).mov(14, code.here() + 12).bx(12);
        code.mov(12, thumb + 1)
            .str(12, 11)
            .mov(14, code.here() + 12)
            .word(ldr_pc_r11)
            .add(10, 13, 0)
            .end();
        rig.run();
        check_machine(rig);
        CHECK(rig.reg(0, 6) == 7);
        CHECK(rig.reg(0, 10) == page + 0x800);
        const auto there = accesses_to_memory(rig);
        CHECK(there.size() == 2 + 2 + 1 + 1 + 1 + 1);
        CHECK(judge(there) == "");
        CHECK(ends_of(rig).empty());
    }
}

TEST_CASE("a watched page is given back if its accesses cannot be followed, and the guest goes on",
          "[protocol]") {
    constexpr std::uint32_t rfe_r0 = 0xf890'0a00;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Rig rig(watching(seed, {page, 2 * page_size}, 1));
        constexpr std::uint32_t code_there = page + page_size + 0x100;
        Code(rig.simulation.ram, code_there).add(6, 6, 1).bx(14);
        Code code = rig.program(0);
        code.mov(6, 0).mov(1, counter).ldr(2, 1).mov(12, code_there);
        for (unsigned n = 0; n < 2; ++n) code.mov(14, code.here() + 12).bx(12);
        code.mov(0, code.here() + 40).mov(2, 0x1d3).str(0, 1).str(2, 1, 4).mov(0, counter);
        code.word(rfe_r0).end();
        Code(rig.simulation.ram, code.here()).end();
        rig.run();
        check_machine(rig);
        CHECK(rig.reg(0, 6) == 2);
        CHECK(ends_of(rig) == std::vector{WatchEnd::code, WatchEnd::unknown});
        CHECK(accesses_to_memory(rig).size() == 3);
    }
}

TEST_CASE("maintenance of a watched page's cache lines is the guest's own") {
    for (std::uint64_t seed = 1; seed <= seeds(4); ++seed) {
        CAPTURE(seed);
        Rig rig(watching(seed, {page, page_size}, 1));
        rig.program(0).mov(1, counter).str(1, 1).dcimvac(1).ldr(2, 1).mov(6, 7).end();
        rig.run();
        check_machine(rig);
        CHECK(rig.reg(0, 6) == 7);
        CHECK(rig.reg(0, 2) == counter);
        CHECK(rig.records_of(abi::RecordType::maintenance).size() == 1);
        CHECK(accesses_to_memory(rig).size() == 2);
    }
}

TEST_CASE("a probed instruction that accesses a watched page is recorded there, and ends its probe",
          "[protocol]") {
    constexpr std::uint32_t function = 0x80a0'0100, push_r4_lr = 0xe92d'4010,
                            pop_r4_pc = 0xe8bd'8010;
    constexpr unsigned calls = 3;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        RigOptions options = watching(seed, {page, page_size}, 1);
        options.tree.probes = true;
        options.tree.pages.reset(); // not with probes
        Rig rig(options);
        Code(rig.simulation.ram, function).word(push_r4_lr).add(6, 6, 1).word(pop_r4_pc);
        Code code = rig.program(0);
        code.mov(8, 0).mov(13, page + 0x800).mov(12, function).mov(6, 0);
        ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
        code.mov(6, 0);
        for (unsigned n = 0; n < calls; ++n) code.mov(14, code.here() + 12).bx(12);
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(0, 6) == calls);
        CHECK(accesses_to_memory(rig).size() == 4 * calls);
        CHECK(judge(accesses_to_memory(rig)) == "");
        CHECK(rig.records_of(abi::RecordType::call).size() == 1);
    }
}

TEST_CASE("a stop is one of watched memory, too") {
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        RigOptions options = watching(seed, {page, page_size}, 1);
        const bool early = seed % 4 < 2; // with both engines
        if (early) options.tree.requests = {static_cast<std::uint32_t>(Command::stop), 0, 0};
        Rig rig(options);
        Code code = rig.program(0);
        code.mov(8, 0).mov(1, counter);
        if (!early) {
            code.str(1, 1);
            ask_and_note(code, make_request(Command::stop, 1));
        }
        code.add(2, 1, 1).str(2, 1).ldr(3, 1);
        ask_and_note(code, make_request(Command::start, 2));
        code.ldr(4, 1).end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(0, 3) == counter + 1);
        const auto there = accesses_to_memory(rig);
        REQUIRE(there.size() == (early ? 1 : 2));
        CHECK(there.back().value == counter + 1);
    }
}

TEST_CASE("only memory that nothing else has taken can be watched") {
    as_guest(watching(1, {}, 1), [](Rig& rig, mmioscope::Cpu& cpu) {
        const auto watch = [&](std::uint32_t begin, std::uint32_t bytes) {
            return ask(cpu, Command::watch, begin, bytes).status;
        };
        CHECK(watch(page, 0) == Status::argument);
        CHECK(watch(page, abi::control::most_watched + page_size) == Status::argument);
        CHECK(watch(0xffff'f000, 2 * page_size) == Status::argument);
        CHECK(watch(at::fifo, page_size) == Status::not_watchable);
        CHECK(watch(control_page, page_size) == Status::not_watchable);
        CHECK(watch(0x8000'0000 + (64u << 20) - page_size, 2 * page_size) == Status::not_watchable);
        CHECK(ask(cpu, Command::unwatch, page, page_size).status == Status::not_watched);
        CHECK(ask(cpu, Command::unwatch).status == Status::done);
        CHECK(watch(page, page_size) == Status::done);
        CHECK(watch(page - page_size, 3 * page_size) == Status::done);
        CHECK(ask(cpu, Command::unwatch, page, page_size).status == Status::done);
        CHECK(ask(cpu, Command::unwatch).status == Status::done);
        CHECK(rig.machine->normal(0).entry(page) == nullptr);
        // Bytes: a page traps as long as one of them is watched, and what is asked twice counts
        // once.
        for (unsigned n = 0; n < 40; ++n) CHECK(watch(page + 8, 16) == Status::done);
        CHECK(ask(cpu, Command::unwatch, page + 12, 4).status == Status::done);
        CHECK(ask(cpu, Command::unwatch, page + 12, 4).status == Status::not_watched);
        CHECK(ask(cpu, Command::unwatch, page + 8, 4).status == Status::done);
        CHECK(rig.machine->normal(0).entry(page) != nullptr);
        CHECK(ask(cpu, Command::unwatch, page, page_size).status == Status::done);
        CHECK(rig.machine->normal(0).entry(page) == nullptr);
        for (unsigned n = 0; n < 32; ++n) CHECK(watch(page + 16 * n, 8) == Status::done);
        CHECK(watch(page + page_size, 8) == Status::no_room);
        CHECK(ask(cpu, Command::unwatch, page + 4, 2).status == Status::no_room);
        CHECK(watch(page, 0x200) == Status::done); // in their place
        CHECK(watch(page + page_size - 4, 8) == Status::done);
        CHECK(ask(cpu, Command::unwatch).status == Status::done);
        CHECK(rig.machine->normal(0).entry(page) == nullptr);
    });
    as_guest(options_for(abi::EngineKind::shadow, 1, 1), [](Rig&, mmioscope::Cpu& cpu) {
        CHECK(ask(cpu, Command::watch, page, page_size).status == Status::unavailable);
    });
}
