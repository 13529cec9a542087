// Probes: what the guest executes becomes a record each time, and the guest notices nothing.
#include "catch_2_or_3.hpp"
#include "port/memory.hpp"
#include "probes/instruction.hpp"
#include "sim/mmu.hpp"
#include "unit/control/asking.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::make_request;
using abi::control::ProbeEnd;

namespace {

constexpr std::uint32_t function = 0x80a0'0100;
constexpr std::uint32_t stack = 0x80b0'0000;
constexpr std::uint32_t push_r4_lr = 0xe92d'4010, pop_r4_lr = 0xe8bd'4010;
constexpr std::uint32_t add_r6_1 = 0xe286'6001;

RigOptions with_probes(std::uint64_t seed, unsigned cpus = 2) {
    RigOptions options = options_for(
        seed % 2 == 0 ? abi::EngineKind::shadow : abi::EngineKind::emulation, cpus, seed);
    options.tree.probes = true;
    options.conditions.keeps_old_code = true;
    options.conditions.late_one_in = seed % 3 == 0 ? 400 : 40;
    options.conditions.code_dropped_one_in = seed % 2 == 0 ? 4 : 60;
    return options;
}

void write_function(Rig& rig) {
    Code(rig.simulation.ram, function).word(push_r4_lr).word(add_r6_1).word(pop_r4_lr).bx(14);
}

/// Calls the function with 1, 2, ... in r0, and accesses a traced device before each call.
void write_caller(Code code, unsigned calls) {
    code.mov(13, stack).mov(0, 0).mov(1, at::fifo).mov(3, calls).mov(6, 0).mov(12, function);
    const std::uint32_t loop = code.here(), back = loop + 20;
    code.add(0, 0, 1).ldr(2, 1).mov(14, back).bx(12);
    code.subs(3, 3, 1).bne(loop).end();
}

void check_machine(Rig& rig) {
    REQUIRE(rig.failure() == "");
    CAPTURE(rig.text());
    REQUIRE(rig.text().find(abi::stop_line) == std::string::npos);
    REQUIRE(rig.services.integrity.find_damage(false).name == nullptr);
    CHECK(rig.records_of(abi::RecordType::fault).empty());
    CHECK(compare_with_bus(rig) == "");
}

/// Why probes ended by themselves, in order.
std::vector<ProbeEnd> ends_of(const Rig& rig) {
    std::vector<ProbeEnd> ends;
    for (const abi::Record& r : rig.records_of(abi::RecordType::configuration))
        if (abi::control::tag_command(r.pa_low) == Command::unprobe && r.value >> 32 != 0)
            ends.push_back(static_cast<ProbeEnd>(r.value >> 32));
    return ends;
}

} // namespace

TEST_CASE("a probe that comes and goes while another CPU calls the function misses no call between",
          "[protocol]") {
    constexpr unsigned calls = 60, rounds = 4;
    unsigned all = 0;
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed));
        rig.simulation.speculated.push_back(function & ~0xfffu);
        write_function(rig);
        write_caller(rig.program(1), calls);
        Code code = rig.program(0);
        code.mov(8, 0).mov(9, at::fifo);
        for (unsigned n = 0; n < rounds; ++n) {
            ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
            code.ldr(2, 9).ldr(2, 9);
            ask_and_note(code, make_request(Command::unprobe, 2, function));
        }
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(1, 6) == calls);
        std::uint64_t last = 0;
        unsigned stretches = 0;
        for (const abi::Record& r : rig.records_of(abi::RecordType::call)) {
            CHECK(r.pc == function);
            CHECK(r.cpu == 1);
            CHECK(r.sp == stack);
            const std::uint64_t n = r.value & 0xffff'ffff;
            CHECK(n > last);
            stretches += n != last + 1 || last == 0;
            last = n;
            ++all;
        }
        CHECK(stretches <= rounds);
        CHECK(rig.machine->normal(0).entry(function) == nullptr); // a block again
    }
    CHECK(all > 0);
}

TEST_CASE(
    "a page with a probe gets another one, and is patched, while another CPU executes it: what is "
    "done is done",
    "[protocol]") {
    constexpr std::uint32_t other = function + 0x40, flag = 0x80c0'0000;
    constexpr std::uint32_t movw_r4 = 0xe300'4000, nop = 0xe320'f000;
    constexpr unsigned calls = 60, rounds = 5;
    unsigned all = 0;
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed));
        rig.simulation.speculated.push_back(function & ~0xfffu);
        write_function(rig);
        Code(rig.simulation.ram, other).word(nop).word(movw_r4).bx(14);
        // Its steps would empty its instruction cache: the first probe is not called.
        // r1: 2 * patches, and 1 while the other probe stands, as of before the call; r5: such
        // calls; r6: those behind which it still stands; r7: calls of older code.
        Code caller = rig.program(1);
        caller.mov(13, stack).mov(0, 1).mov(3, calls).mov(5, 0).mov(6, 0).mov(7, 0).mov(9, flag);
        const std::uint32_t loop = caller.here();
        caller.ldr(1, 9).mov(12, other).mov(14, loop + 24).bx(12);
        caller.ldr(2, 9).word(0xe152'0001);         // CMP r2, r1
        caller.word(0xe001'2000).add_reg(5, 5, 2);  // AND r2, r1, r0
        caller.word(0x0086'6002);                   // ADDEQ r6, r6, r2
        caller.add_reg(4, 4, 4).add(4, 4, 1);       // 2 * what it has, and 1
        caller.word(0xe154'0001).word(0x3087'7000); // CMP r4, r1; ADDLO r7, r7, r0
        caller.subs(3, 3, 1).bne(loop).end();
        Code code = rig.program(0);
        code.mov(8, 0).mov(9, flag).mov(10, other);
        ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
        for (unsigned n = 1; n <= rounds; ++n) {
            code.mov(0, movw_r4 | n).str(0, 10, 4).mov(0, 2 * n).str(0, 9);
            ask_and_note(code, make_request(Command::probe, 2, other, nop));
            code.mov(0, 2 * n + 1).str(0, 9).mov(2, at::fifo);
            for (unsigned wait = 0; wait < 6; ++wait) code.ldr(0, 2);
            code.mov(0, 2 * n).str(0, 9);
            ask_and_note(code, make_request(Command::unprobe, 3, other));
        }
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(1, 7) == 0);
        unsigned odd = 0;
        for (const abi::Record& r : rig.records_of(abi::RecordType::call))
            odd += r.pc == other && (r.value >> 32 & 1) != 0;
        CHECK(odd >= rig.reg(1, 6));
        CHECK(odd <= rig.reg(1, 5));
        all += odd;
    }
    CHECK(all > 0);
}

TEST_CASE("a page that is written while its first fetch makes the copy keeps what is written",
          "[protocol]") {
    unsigned together = 0;
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_probes(seed);
        options.tree.probe_cells = {0, function, push_r4_lr};
        Rig rig(options);
        write_function(rig);
        write_caller(rig.program(0), 1);
        Code code = rig.program(1); // r6: what it read was not what it had written
        code.mov(12, function + 0x800).mov(0, 0).mov(3, 60).mov(6, 0).mov(7, 1);
        const std::uint32_t loop = code.here();
        code.add(0, 0, 1).str(0, 12).ldr(5, 12).word(0xe155'0000).word(0x1086'6007);
        code.subs(3, 3, 1).bne(loop).end();
        rig.run();
        check_machine(rig);
        CHECK(rig.reg(1, 6) == 0);
        CHECK(rig.records_of(abi::RecordType::call).size() == 1);
        together += rig.ring(1).statistics.traps > 2;
    }
    CHECK(together > 0);
}

TEST_CASE("what is called while a probe stands is recorded each time, with its arguments") {
    constexpr unsigned calls = 20;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed, 1));
        write_function(rig);
        Code code = rig.program(0);
        code.mov(8, 0);
        ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
        write_caller(code, calls);
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        const auto records = rig.records_of(abi::RecordType::call);
        REQUIRE(records.size() == calls);
        for (unsigned n = 0; n < calls; ++n) {
            CHECK(records[n].value == (std::uint64_t{at::fifo} << 32 | (n + 1)));
            CHECK(records[n].pa_low == calls - n);
        }
        CHECK(rig.reg(0, 6) == calls);
    }
}

TEST_CASE(
    "what the guest writes into a page with a probe takes effect, and ends the probe only if it "
    "is the probed instruction",
    "[protocol]") {
    constexpr std::uint32_t add_r6_2 = 0xe286'6002, nop = 0xe320'f000;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed, 1));
        rig.simulation.speculated.push_back(function & ~0xfffu);
        write_function(rig);
        Code code = rig.program(0);
        code.mov(8, 0).mov(13, stack).mov(12, function);
        const auto call = [&] { code.mov(14, code.here() + 12).bx(12); };
        ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
        code.mov(6, 0);
        call(); // r6 += 1
        code.mov(0, add_r6_2).str(0, 12, 4);
        call(); // r6 += 2
        code.mov(0, 0x1234).strh(0, 12, 0x80).ldrh(4, 12, 0x80).ldr(5, 12, 0);
        code.mov(0, nop).str(0, 12, 0).str(0, 12, 8); // no stack is used any more
        call();                                       // r6 += 2, without a probe
        code.ldr(0, 12, 0);
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(rig.reg(0, 6) == 5);
        CHECK(rig.reg(0, 4) == 0x1234);
        CHECK(rig.reg(0, 5) == 0xe140'0071); // stated: a read finds the HVC
        CHECK(rig.reg(0, 0) == nop);
        CHECK(rig.records_of(abi::RecordType::call).size() == 2);
        CHECK(ends_of(rig) == std::vector{ProbeEnd::patched});
        CHECK(rig.machine->normal(0).entry(function) == nullptr);
    }
}

TEST_CASE(
    "a store that Hyp does not follow, and a probed instruction that accesses what is traced, end "
    "the probes of the page; both happen once") {
    constexpr std::uint32_t ldr_r2_r1 = 0xe591'2000;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed, 1));
        write_function(rig);
        constexpr std::uint32_t accessor = function + 0x1040;
        Code(rig.simulation.ram, accessor).word(ldr_r2_r1).bx(14);
        Code code = rig.program(0);
        code.mov(8, 0).mov(13, stack).mov(6, 0).mov(12, accessor).mov(1, at::fifo);
        ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
        ask_and_note(code, make_request(Command::probe, 2, accessor, ldr_r2_r1));
        code.mov(14, code.here() + 12).bx(12);
        code.mov(12, function + 0x40).mov(4, 7).mov(5, 8).stm(12, 1 << 4 | 1 << 5).ldm(12, 3 << 9);
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(ends_of(rig) == std::vector{ProbeEnd::accesses, ProbeEnd::page});
        CHECK(rig.records_of(abi::RecordType::call).size() == 1);
        CHECK(rig.bus_log(at::fifo, 4).size() == 1);
    }
}

namespace {

/// Instructions to which the function returns, in this order; r3 counts the rounds.
void write_returns(Code code, std::uint32_t sp, unsigned rounds,
                   std::vector<std::uint32_t>& sites) {
    constexpr std::uint32_t undefined = 0xe7f0'00f0;
    constexpr std::uint32_t ldm_pc = 0xe899'8000, ldmdb_r4_pc = 0xe919'8010,
                            ldmib_r4_pc = 0xe999'8010, ldmda_r4_pc = 0xe819'8010;
    constexpr std::uint32_t mrc_r5 = 0xee1d'5f70, bl_over_two = 0xeb00'0001, bxne_r5 = 0x112f'ff15;
    code.mov(13, sp).mov(0, 0).mov(1, at::fifo).mov(3, rounds).mov(6, 0).mov(12, function);
    code.mov(7, 0).mov(9, sp + 0x100).mov(11, sp + 0xfc).mov(2, 0x1234).set_task(2);
    const std::uint32_t loop = code.here();
    const auto call = [&] {
        code.mov(14, code.here() + 12).bx(12);
        sites.push_back(code.here());
        return code.here();
    };
    code.add(0, 0, 1);
    call();
    code.add(7, 7, 1);
    call();
    code.b(code.here() + 8).word(undefined);
    const auto load_pc = [&](std::uint32_t ldm, unsigned offset) { // of r11, 4 below r9
        code.mov(5, code.here() + 32).str(5, 11, offset);
        call();
        code.word(ldm).word(undefined);
    };
    load_pc(ldm_pc, 4);
    load_pc(ldmdb_r4_pc, 0);
    load_pc(ldmib_r4_pc, 12);
    load_pc(ldmda_r4_pc, 4);
    code.subs(4, 3, 0); // not equal
    call();
    code.word(ldm_pc & ~(0xfu << 28)); // LDMEQ
    call();
    code.word(bl_over_two).word(undefined).word(undefined);
    call();
    code.word(mrc_r5).add_reg(7, 7, 5);
    code.mov(5, code.here() + 32).subs(4, 3, 0); // not zero
    call();
    code.word(bxne_r5).word(undefined);
    call();
    code.ldr(2, 1);
    code.subs(3, 3, 1);
    call();
    code.bne(loop).end();
}

} // namespace

TEST_CASE("each return of a probed function is recorded, however the guest goes on there",
          "[protocol]") {
    constexpr unsigned rounds = 5;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed));
        rig.simulation.speculated.push_back(function & ~0xfffu);
        write_function(rig);
        std::vector<std::uint32_t> sites[2];
        Code code = rig.program(0);
        code.mov(8, 0);
        ask_and_note(code,
                     make_request(Command::probe, 1, function | abi::control::returns, push_r4_lr));
        write_returns(code, stack, rounds, sites[0]);
        write_returns(rig.program(1), stack + 0x1000, rounds, sites[1]);
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        std::vector<abi::Record> calls[2];
        std::map<std::uint32_t, unsigned> returns;
        std::vector<abi::Record> records = rig.records_of(abi::RecordType::call);
        for (const abi::Record& r : rig.records_of(abi::RecordType::ret)) records.push_back(r);
        std::ranges::sort(records, {}, &abi::Record::cpu_sequence); // of each CPU
        for (const abi::Record& r : records) {
            if (r.type == abi::RecordType::call) {
                CHECK(r.flags == abi::flag_returns);
                calls[r.cpu].push_back(r);
            }
            if (r.type != abi::RecordType::ret) continue;
            REQUIRE(!calls[r.cpu].empty());
            CHECK(r.pc == r.lr);
            CHECK(r.lr == calls[r.cpu].back().lr);
            CHECK(r.sp == calls[r.cpu].back().sp);
            CHECK(r.value == calls[r.cpu].back().value);
            ++returns[r.lr];
        }
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            CHECK(rig.reg(cpu, 6) == rounds * sites[cpu].size());
            CHECK(rig.reg(cpu, 7) == rounds * (1 + 0x1234));
            CHECK(rig.reg(cpu, 10) == 0);
        }
        CHECK(calls[0].size() == rounds * sites[0].size());
        for (const std::uint32_t site : sites[0]) CHECK(returns[site] == rounds);
        std::size_t all = 0;
        for (const auto& [site, count] : returns) all += count;
        CHECK(all == calls[0].size() + calls[1].size());
    }
}

TEST_CASE("a probe that is taken away takes those of its returns along", "[protocol]") {
    constexpr unsigned calls = 12;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Rig rig(with_probes(seed, 1));
        write_function(rig);
        constexpr std::uint32_t caller = 0x80a1'0000, site = caller + 12;
        Code(rig.simulation.ram, caller).mov(14, site).bx(12).subs(3, 3, 1).bne(caller).bx(9);
        Code code = rig.program(0);
        code.mov(8, 0).mov(13, stack).mov(12, function).mov(10, caller);
        const auto run = [&] { code.mov(3, calls).mov(9, code.here() + 12).bx(10); };
        const std::uint32_t asked = function | abi::control::returns;
        ask_and_note(code, make_request(Command::probe, 1, asked, push_r4_lr));
        run();
        ask_and_note(code, make_request(Command::unprobe, 2, function));
        run();
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.records_of(abi::RecordType::call).size() == calls);
        CHECK(rig.records_of(abi::RecordType::ret).size() == calls);
        CHECK(rig.machine->normal(0).entry(function) == nullptr);
        CHECK(rig.machine->normal(0).entry(site) == nullptr);
    }
}

TEST_CASE(
    "code that the kernel frees loses its probes before that, and has none if it is not known when",
    "[protocol]") {
    constexpr std::uint32_t frees = function + 0x1000, module = 0x80a2'0000, nop = 0xe320'f000;
    constexpr std::uint32_t returns = abi::control::returns, frees_code = abi::control::frees_code;
    for (const bool known : {true, false}) {
        for (const bool mapped : {true, false}) {
            CAPTURE(known, mapped);
            RigOptions options = with_probes(1, 1);
            options.tree.probe_cells = {0, function | returns, push_r4_lr};
            if (known)
                options.tree.probe_cells.insert(options.tree.probe_cells.end(),
                                                {frees | frees_code, nop});
            Rig rig(options);
            const std::uint32_t pages[] = {module | mmu::full_access};
            mmu::write_tables(rig.simulation.ram, pages);
            write_function(rig);
            Code(rig.simulation.ram, frees).word(nop).bx(14);
            Code(rig.simulation.ram, module).mov(14, mmu::window + 12).bx(12).bx(9);
            Code code = rig.program(0);
            code.mov(8, 0).mov(13, stack).mov(6, 0).mov(12, function).mov(10, mmu::window);
            mmu::turn_on(code);
            const auto call = [&](unsigned by) { code.mov(9, code.here() + 12).bx(by); };
            call(10);
            call(10);
            code.mov(0, mapped ? mmu::window : 0x5000'0000).mov(11, frees);
            code.mov(14, code.here() + 12).bx(11);
            code.end();
            rig.on_end(0, [&](Core&, mmioscope::Cpu&) {
                const auto has_copy = [&](std::uint32_t page) {
                    return lpae::output_address(*rig.machine->normal(0).entry(page)) != page;
                };
                CHECK(!has_copy(module));
                CHECK(has_copy(function & ~0xfffu));
            });
            rig.run();
            check_machine(rig);
            CHECK(rig.reg(0, 6) == 2);
            CHECK(rig.records_of(abi::RecordType::ret).size() == (known ? 2 : 0));
            const auto calls = rig.records_of(abi::RecordType::call);
            REQUIRE(calls.size() == 2); // not of `frees`
            for (const abi::Record& r : calls) CHECK(r.flags == (known ? abi::flag_returns : 0));
            CHECK(ends_of(rig).empty()); // nobody asked for those that have ended
        }
    }
}

TEST_CASE("code that only the kernel's own table has is freed alone", "[protocol]") {
    constexpr std::uint32_t frees = function + 0x1000, nop = 0xe320'f000, freed = 0x5020'0000;
    constexpr std::uint32_t first_level = 0x80b4'0000, second_level = 0x80b4'4000;
    for (const bool is_long : {false, true}) {
        for (const bool known : {true, false}) {
            CAPTURE(is_long, known);
            RigOptions options = with_probes(1, 1);
            options.tree.probe_cells = {0, frees | abi::control::frees_code, nop};
            Rig rig(options);
            const std::uint32_t pages[] = {0x80a2'0000 | mmu::full_access};
            mmu::write_tables(rig.simulation.ram, pages);
            Code(rig.simulation.ram, frees).word(nop).bx(14);
            Code(rig.simulation.ram, 0x80a2'0000).word(add_r6_1).bx(14);
            auto& ram = rig.simulation.ram;
            ram.store<std::uint32_t>(mmu::first_level + (control_page >> 20 << 2),
                                     (control_page & 0xfff0'0000) | 0xc02); // a section
            const std::uint32_t l1 = is_long ? first_level - 0x1000 + (freed >> 21 & 0x1ff) * 8
                                             : first_level + (freed >> 20) * 4;
            ram.store<std::uint32_t>({l1}, second_level | (is_long ? 3 : 1));
            ram.store<std::uint32_t>({second_level}, known ? 0x80a2'0000 | (is_long ? 3 : 2) : 0);
            Code code = rig.program(0);
            code.mov(1, first_level).word(0xee02'1f30);                      // TTBR1
            if (is_long) code.mov(1, 1u << 31 | 2u << 16).word(0xee02'1f50); // TTBCR: EAE, T1SZ
            code.mov(8, 0).mov(10, mmu::window).mov(11, frees);
            mmu::turn_on(code);
            const auto call = [&](unsigned by) { code.mov(14, code.here() + 12).bx(by); };
            ask_and_note(code, make_request(Command::probe, 1, mmu::window, add_r6_1));
            code.mov(6, 0);
            call(10);
            code.mov(0, 0);
            call(11); // frees nothing
            call(10);
            code.mov(0, freed);
            call(11);
            call(10);
            code.end();
            rig.run();
            check_machine(rig);
            CHECK(rig.reg(0, 6) == 3);
            CHECK(rig.records_of(abi::RecordType::call).size() == (known ? 3 : 2));
        }
    }
}

TEST_CASE("a probe is refused with a reason, and changes nothing") {
    RigOptions options = with_probes(1, 1);
    Rig rig(options);
    write_function(rig);
    Code(rig.simulation.ram, function + 0x20).word(0xe1a0'f00e).word(0xe194'0f9f).smc().hvc();
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) {
        const auto status = [&](Command command, std::uint32_t first, std::uint32_t second = 0) {
            return ask(cpu, command, first, second).status;
        };
        const auto left = rig.machine->pool.left();
        CHECK(status(Command::probe, function, push_r4_lr + 1) == Status::other_code);
        CHECK(status(Command::probe, at::fifo, 0) == Status::other_code); // no memory
        CHECK(status(Command::probe, function + 0x20, 0xe1a0'f00e) == Status::no_probe_here);
        CHECK(status(Command::probe, function + 0x24, 0xe194'0f9f) == Status::no_probe_here);
        CHECK(status(Command::probe, function + 0x28, 0xe160'0070) == Status::no_probe_here);
        CHECK(status(Command::probe, function + 0x2c, 0xe140'0070) == Status::no_probe_here);
        CHECK(status(Command::unprobe, function) == Status::not_probed);
        CHECK(rig.machine->pool.left() == left);
        CHECK(status(Command::probe, function, push_r4_lr) == Status::done);
        CHECK(status(Command::probe, function, push_r4_lr) == Status::done);
        CHECK(status(Command::unprobe, 0) == Status::done);
        CHECK(status(Command::unprobe, function) == Status::not_probed);
    });
    rig.run();
    check_machine(rig);
    options.tree.probes = false;
    as_guest(options, [](Rig&, mmioscope::Cpu& cpu) {
        CHECK(ask(cpu, Command::probe, function, push_r4_lr).status == Status::unavailable);
    });
}

TEST_CASE("an HVC of the guest's own is undefined, whatever its number") {
    Rig rig(with_probes(1, 1));
    write_function(rig);
    Code code = rig.program(0);
    code.mov(8, 0).mov(10, 0);
    ask_and_note(code, make_request(Command::probe, 1, function, push_r4_lr));
    code.word(0xe140'0071).word(0xe140'0072).word(0xe140'017f).end(); // #1, #2, #31
    rig.run();
    check_machine(rig);
    CHECK(rig.reg(0, 10) == 3);
    CHECK(rig.records_of(abi::RecordType::call).empty());
}

TEST_CASE("where HVC is undefined probes are refused at the start, and nothing else is") {
    for (const bool probes : {true, false}) {
        CAPTURE(probes);
        RigOptions options = with_probes(1, 1);
        options.tree.probes = probes;
        options.conditions.hvc_undefined = true;
        Rig rig(options);
        rig.program(0).end();
        rig.run();
        const char* const said =
            "stop: probes need HVC, which is undefined here: firmware must set";
        CHECK((rig.text().find(said) != std::string::npos) == probes);
        CHECK(rig.simulation.cores[0].ended != probes);
    }
}

TEST_CASE("probes from the start begin with the first fetch from their page") {
    RigOptions options = with_probes(1, 1);
    options.tree.probe_cells = {
        0,           function,   push_r4_lr, function + 4, add_r6_1 + 1, function + 12,
        0xe194'0f9f, 0x100'0000, 0};
    Rig rig(options);
    Code code = rig.program(0); // which writes the function: nothing traps
    code.mov(13, stack).mov(6, 0).mov(12, function);
    const std::uint32_t words[] = {push_r4_lr, add_r6_1, pop_r4_lr, 0xe12f'ff1e};
    for (unsigned n = 0; n < 4; ++n) code.mov(0, words[n]).str(0, 12, 4 * n);
    for (unsigned n = 0; n < 3; ++n) code.mov(14, code.here() + 12).bx(12);
    code.end();
    rig.run();
    check_machine(rig);
    CHECK(rig.reg(0, 6) == 3);
    CHECK(rig.records_of(abi::RecordType::call).size() == 3);
    CHECK(ends_of(rig) ==
          std::vector{ProbeEnd::impossible, ProbeEnd::impossible, ProbeEnd::other_code});
}

namespace {

constexpr std::uint32_t loader = function + 0x1000, module_code = 0x80a2'0000;

/// Module 0x100 + CPU is loaded by each CPU: its loader, then its function, `rounds` times.
void load_modules(Rig& rig, unsigned cpus, unsigned rounds) {
    Code(rig.simulation.ram, loader).word(0xe320'f000).bx(14);
    Code(rig.simulation.ram, module_code).word(add_r6_1).bx(14);
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(13, stack - 0x100 * cpu).mov(6, 0).mov(11, loader).mov(12, module_code);
        for (unsigned n = 0; n < rounds; ++n) {
            code.mov(0, 0x100 + cpu).mov(14, code.here() + 12).bx(11);
            code.mov(14, code.here() + 12).bx(12);
        }
        code.end();
    }
}

RigOptions that_loads(std::uint64_t seed, unsigned cpus) {
    RigOptions options = with_probes(seed, cpus);
    options.tree.probe_cells = {0};
    options.tree.loads_modules = {loader, 0xe320'f000};
    return options;
}

abi::control::Mailbox& mailbox_of(Rig& rig) {
    return *port::memory_at<abi::control::Mailbox>(
        {rig.machine->image.text.begin + abi::control_page_offset});
}

} // namespace

TEST_CASE("a module's init waits for the probes of who shares the memory, each time",
          "[protocol]") {
    constexpr unsigned rounds = 3;
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        RigOptions options = that_loads(seed, 2);
        std::vector<std::uint32_t> loaded;
        std::uint16_t id = 0;
        options.read_when = [&](Rig& rig) {
            abi::control::Mailbox& box = mailbox_of(rig);
            const bool answered = box.reply.id == id && box.reply.check == check_of(box.reply);
            if (box.module == 0 || (id != 0 && !answered)) return false;
            if (id % 2 == 0) {
                box.request = make_request(Command::probe, ++id, module_code, add_r6_1);
            } else {
                CHECK(box.reply.status == Status::done);
                loaded.push_back(box.module);
                box.request = make_request(Command::probe, ++id, 0);
            }
            return false;
        };
        Rig rig(options);
        load_modules(rig, 2, rounds);
        rig.run();
        check_machine(rig);
        CHECK(loaded.size() == 2 * rounds);
        CHECK(rig.records_of(abi::RecordType::call).size() == 2 * rounds); // not of the loader
        CHECK(ends_of(rig).empty());
    }
}

TEST_CASE("a module's init does not wait for ever", "[protocol]") {
    RigOptions options = that_loads(1, 2);
    options.conditions.stopped_one_in = 1000;
    options.conditions.ticks_of_stop = 62'500'000; // a second
    Rig rig(options);
    load_modules(rig, 2, 2);
    rig.run();
    check_machine(rig);
    CHECK(rig.reg(0, 6) + rig.reg(1, 6) == 4);
    CHECK(ends_of(rig) == std::vector{ProbeEnd::unanswered});
}

TEST_CASE("the function that loads modules must be one", "[protocol]") {
    RigOptions options = that_loads(1, 1);
    options.tree.loads_modules = {loader, 0xe194'0f9f};
    Rig rig(options);
    rig.run();
    CHECK(rig.text().find("mmioscope,loads-modules is no function") != std::string::npos);
}

TEST_CASE("many probes are taken away some at a time, and by one request", "[protocol]") {
    constexpr unsigned many = 600, called = 10;
    RigOptions options = with_probes(1);
    options.tree.probe_cells = {0};
    for (unsigned n = 0; n < many; ++n)
        options.tree.probe_cells.insert(options.tree.probe_cells.end(),
                                        {function + 4 * n, add_r6_1});
    Rig rig(options);
    Code body(rig.simulation.ram, function);
    for (unsigned n = 0; n < many; ++n) body.word(add_r6_1);
    body.bx(14);
    Code code = rig.program(0);
    code.mov(8, 0).mov(9, 0).mov(12, function + 4 * (many - called));
    const auto call = [&] { code.mov(6, 0).mov(14, code.here() + 12).bx(12).add_reg(9, 9, 6); };
    call();
    ask_and_note(code, make_request(Command::unprobe, 2, 0));
    call();
    code.end();
    rig.run();
    check_machine(rig);
    CHECK(status_of(rig.reg(0, 8)) == Status::done);
    CHECK(rig.reg(0, 9) == 2 * called);
    CHECK(rig.records_of(abi::RecordType::call).size() == called);
    CHECK(rig.machine->normal(0).entry(function) == nullptr);
}

TEST_CASE("what Hyp computes in the guest's place is what the manual says", "[protocol]") {
    // A8.8 of each, with numbers that do not wrap. r0 to r12 only.
    const auto expected = [](Frame& frame, std::uint32_t word) {
        const unsigned op = word >> 21 & 0xf;
        const bool immediate = (word >> 25 & 1) != 0;
        std::int64_t b = immediate ? word & 0xff : frame.r[word & 0xf];
        for (unsigned n = 0; immediate && n < (word >> 8 & 0xf); ++n) b = b >> 2 | (b & 3) << 30;
        const std::int64_t a = frame.r[word >> 16 & 0xf], most = 0xffff'ffff;
        const auto as_signed = [](std::int64_t v) { return std::int64_t{std::int32_t(v)}; };
        std::int64_t result = 0, exact = 0;
        bool carry = (frame.psr >> 29 & 1) != 0, overflow = (frame.psr >> 28 & 1) != 0;
        if (immediate && (word >> 8 & 0xf) != 0) carry = b >> 31 != 0;
        const auto arithmetic = [&](std::int64_t v, std::int64_t of_signed, bool c) {
            result = v & most;
            exact = of_signed;
            carry = c;
            overflow = exact != as_signed(result);
        };
        switch (op) {
        case 0:
        case 8: result = a & b; break;
        case 1:
        case 9: result = a ^ b; break;
        case 2:
        case 10: arithmetic(a - b, as_signed(a) - as_signed(b), a >= b); break;
        case 3: arithmetic(b - a, as_signed(b) - as_signed(a), b >= a); break;
        case 4:
        case 11: arithmetic(a + b, as_signed(a) + as_signed(b), a + b > most); break;
        case 12: result = a | b; break;
        case 13: result = b; break;
        case 14: result = a & ~b & most; break;
        default: result = ~b & most;
        }
        frame.pc += 4;
        if (!arch::condition_passed(word >> 28, frame.psr)) return;
        if (op < 8 || op > 11) frame.r[word >> 12 & 0xf] = static_cast<std::uint32_t>(result);
        if ((word >> 20 & 1) == 0) return;
        frame.psr &= 0x0fff'ffff;
        frame.psr |= static_cast<std::uint32_t>(result >> 31) << 31 | (result == 0 ? 1u << 30 : 0) |
                     (carry ? 1u << 29 : 0) | (overflow ? 1u << 28 : 0);
    };
    Random random(1);
    unsigned computed[16]{};
    for (unsigned n = 0; n < 400'000; ++n) {
        std::uint32_t word = static_cast<std::uint32_t>(random.next()) & 0xf3ff'ffff;
        if ((word >> 25 & 1) == 0 && !random.one_in(4)) word &= ~0xff0u;
        const auto low = [&](unsigned at) { return (word >> at & 0xf) < 13; };
        if (!is_carried_out(word) || !low(16) || !low(12) || (!low(0) && (word >> 25 & 1) == 0) ||
            (word & 0x0fff'fff0) == 0x012f'ff10)
            continue;
        Frame frame{};
        constexpr std::uint32_t edges[] = {0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff};
        for (auto& r : frame.r)
            r = random.one_in(2) ? edges[random.below(5)]
                                 : static_cast<std::uint32_t>(random.next());
        frame.pc = function;
        frame.psr = static_cast<std::uint32_t>(random.next() & 0xf000'0000) | 0x13;
        Frame wanted = frame;
        expected(wanted, word);
        CAPTURE(word);
        REQUIRE(carry_out(frame, word));
        REQUIRE(std::ranges::equal(frame.r, wanted.r));
        REQUIRE(frame.psr == wanted.psr);
        REQUIRE(frame.pc == wanted.pc);
        ++computed[word >> 21 & 0xf];
    }
    for (unsigned op = 0; op < 16; ++op) CHECK((computed[op] > 100) == (op < 5 || op > 7));
}

TEST_CASE("exclusives behind a probed entry succeed, and each call is recorded", "[protocol]") {
    constexpr std::uint32_t counter = 0x80c0'0000, ldrex_r4_r11 = 0xe19b'4f9f;
    constexpr unsigned calls = 30;
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        RigOptions options = with_probes(seed);
        options.tree.probe_cells = {0, function | abi::control::returns, push_r4_lr};
        Rig rig(options);
        Code code(rig.simulation.ram, function);
        code.word(push_r4_lr);
        const std::uint32_t again = code.here();
        code.word(ldrex_r4_r11).add(4, 4, 1).word(0xe18b'5f94); // STREX r5, r4, [r11]
        code.subs(5, 5, 0).bne(again).word(pop_r4_lr).bx(14);
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code caller = rig.program(cpu);
            caller.mov(13, stack + 0x1000 * cpu)
                .mov(3, calls)
                .mov(11, counter + 4 * cpu)
                .mov(12, function);
            const std::uint32_t loop = caller.here();
            caller.mov(14, loop + 12).bx(12).subs(3, 3, 1).bne(loop).mov(1, at::fifo).ldr(2, 1);
            caller.end(); // its stores are in memory then
        }
        rig.run();
        check_machine(rig);
        for (unsigned cpu = 0; cpu < 2; ++cpu)
            CHECK(rig.simulation.ram.load<std::uint32_t>(counter + 4 * cpu) == calls);
        CHECK(rig.records_of(abi::RecordType::call).size() == 2 * calls);
        CHECK(rig.records_of(abi::RecordType::ret).size() == 2 * calls);
        CHECK(ends_of(rig).empty());
    }
}

TEST_CASE("code in Thumb state has no probes, whatever it looks like in ARM state") {
    RigOptions options = with_probes(1, 1);
    constexpr std::uint32_t adds_r6_1 = 0x3601, words = adds_r6_1 << 16 | adds_r6_1;
    options.tree.probe_cells = {0, function, words};
    Rig rig(options);
    Code(rig.simulation.ram, function).word(words).word(words).half(0x4770); // BX lr
    Code code = rig.program(0);
    code.mov(6, 0).mov(12, function + 1);
    code.mov(14, code.here() + 12).bx(12).end();
    rig.run();
    check_machine(rig);
    CHECK(rig.reg(0, 6) == 4);
    CHECK(rig.records_of(abi::RecordType::call).empty());
    CHECK(ends_of(rig) == std::vector{ProbeEnd::impossible});
}

namespace {

/// A page of functions that a guest changes as it likes, and what must become of that.
struct Playground {
    static constexpr unsigned functions = 6, size = 0x40;
    static constexpr std::uint32_t add_r4 = 0xe284'4000;

    std::uint32_t at(unsigned n) const { return function + n * size; }
    /// ADD r4, r4, #first; ADD r4, r4, #second; BX lr.
    void write(Code code, unsigned n) { code.word(first(n)).word(add_r4 | second[n]).bx(14); }
    std::uint32_t first(unsigned n) const { return add_r4 | first_adds[n]; }

    std::uint32_t first_adds[functions]{}, second[functions]{};
    bool probed[functions]{}, counted[functions]{};
    std::uint32_t sum = 0, undefined = 0;
    std::uint64_t records = 0, hits = 0;
};

/// One random act of the guest, and what it does to `page`.
void act(Code& code, Random& random, Playground& page) {
    const auto n = static_cast<unsigned>(random.below(page.functions));
    const auto value = static_cast<std::uint32_t>(1 + random.below(200));
    code.mov(12, page.at(n));
    switch (random.below(9)) {
    case 0:
    case 1:
    case 2: // a call
        code.mov(14, code.here() + 12).bx(12);
        page.sum += page.first_adds[n] + page.second[n];
        (page.counted[n] ? page.hits : page.records) += page.probed[n];
        break;
    case 3: // a probe, perhaps with returns; what is only counted has none
        page.counted[n] = random.one_in(3);
        ask_and_note(code, make_request(Command::probe_action, 1, page.counted[n] ? 1 : 0, 1));
        ask_and_note(code, make_request(Command::probe, 1,
                                        page.at(n) | (!page.counted[n] && random.one_in(2)),
                                        page.first(n)));
        page.probed[n] = true;
        break;
    case 4: // taken away, if it is there
        if (!page.probed[n]) break;
        ask_and_note(code, make_request(Command::unprobe, 1, page.at(n)));
        page.probed[n] = false;
        break;
    case 5: // patches the probed instruction: by a word, or its immediate alone
        page.first_adds[n] = value;
        if (random.one_in(2)) code.mov(0, page.first(n)).str(0, 12);
        else code.mov(0, value).strb(0, 12);
        page.probed[n] = false;
        break;
    case 6: // or another one, and reads that
        page.second[n] = value;
        code.mov(0, value).strb(0, 12, 4).ldr(1, 12, 4).mov(2, page.add_r4 | value);
        code.word(0xe151'0002).word(0x1284'4fff); // CMP r1, r2; ADDNE r4, r4, #0x3fc
        break;
    case 7: // an HVC with the number of a probe, or of none, also on the page itself
        code.word(0xe140'0070 | static_cast<std::uint32_t>(1 + random.below(15)));
        ++page.undefined;
        code.mov(0, 0xe140'0070 | static_cast<std::uint32_t>(1 + random.below(9)));
        code.mov(1, 0xe12f'ff1e).str(0, 12, 0x20).str(1, 12, 0x24).add(12, 12, 0x20);
        code.mov(14, code.here() + 12).bx(12);
        ++page.undefined;
        break;
    default: // the page gets another use, and is code again
        code.mov(12, function & ~0xfffu).mov(0, 0).mov(1, 0);
        code.word(0xe8ac'0003); // STM r12!, {r0, r1}
        for (unsigned i = 0; i < page.functions; ++i) {
            page.first_adds[i] = value + i;
            page.probed[i] = false;
            code.mov(12, page.at(i)).mov(0, page.first(i)).str(0, 12);
        }
    }
}

} // namespace

TEST_CASE(
    "a guest that patches, reads, frees and uses again what is probed, and forges HVCs, finds "
    "what it would find without probes",
    "[protocol]") {
    std::uint64_t records = 0, hits = 0;
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        RigOptions options = with_probes(seed);
        options.conditions.keeps_old_code = false; // it empties no instruction cache
        Rig rig(options);
        Playground page;
        for (unsigned n = 0; n < page.functions; ++n) {
            page.second[n] = n + 1;
            page.write(Code(rig.simulation.ram, page.at(n)), n);
        }
        // Another CPU executes code of the same page that stays as it is.
        constexpr unsigned calls = 200;
        constexpr std::uint32_t quiet = function + 0xe00;
        Code(rig.simulation.ram, quiet).word(add_r6_1).bx(14);
        Code other = rig.program(1);
        other.mov(13, stack).mov(3, calls).mov(6, 0).mov(12, quiet);
        const std::uint32_t loop = other.here();
        other.mov(14, loop + 12).bx(12).subs(3, 3, 1).bne(loop).end();
        Code code = rig.program(0);
        code.mov(13, stack + 0x1000).mov(4, 0).mov(8, 0).mov(10, 0);
        for (unsigned n = 0; n < 40; ++n) act(code, random, page);
        ask_and_note(code, make_request(Command::unprobe, 1, 0));
        code.end();
        rig.run();
        check_machine(rig);
        CHECK(status_of(rig.reg(0, 8)) == Status::done);
        CHECK(rig.reg(0, 4) == page.sum);
        CHECK(rig.reg(0, 10) == page.undefined);
        CHECK(rig.reg(1, 6) == calls);
        CHECK(rig.records_of(abi::RecordType::call).size() == page.records);
        std::uint64_t told = 0;
        for (const abi::Record& r : rig.records_of(abi::RecordType::hits)) told += r.value;
        CHECK(told == page.hits);
        CHECK(rig.machine->normal(0).entry(function) == nullptr); // a block again
        records += page.records;
        hits += page.hits;
    }
    CHECK(std::min(records, hits) > 0);
}

TEST_CASE("a call has the stack of who made it, if that is asked for, and a return has none") {
    for (const bool asked : {false, true}) {
        CAPTURE(asked);
        RigOptions options = with_probes(1, 1);
        options.tree.probe_cells = {0, function | abi::control::returns, push_r4_lr};
        options.tree.stack_size = 8;
        if (asked) options.tree.stacks = {"calls"};
        Rig rig(options);
        write_function(rig);
        rig.simulation.ram.store<std::uint32_t>(stack, 0x1234);
        rig.simulation.ram.store<std::uint32_t>(stack + 4, 0x5678);
        Code code = rig.program(0);
        code.mov(13, stack).mov(4, 44).mov(6, 0).mov(11, 111).mov(12, function);
        for (unsigned n = 0; n < 3; ++n) code.mov(14, code.here() + 12).bx(12);
        code.mov(0, 0).end();
        rig.run();
        check_machine(rig);
        unsigned calls = 0;
        const auto& records = rig.records(0);
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (records[i].type == abi::RecordType::ret) CHECK(!abi::goes_on(records[i]));
            if (records[i].type != abi::RecordType::call) continue;
            ++calls;
            CHECK(abi::goes_on(records[i]) == asked);
            if (!asked) continue;
            std::uint32_t words[11]; // kind, r4 to r11, the stack
            REQUIRE(i + 2 < records.size());
            REQUIRE(abi::bytes_in(records[i + 1]) == 32);
            REQUIRE(abi::bytes_in(records[i + 2]) == 12);
            std::memcpy(words, abi::bytes_of(records[i + 1]), 32);
            std::memcpy(words + 8, abi::bytes_of(records[i + 2]), 12);
            CHECK(words[0] == static_cast<std::uint32_t>(abi::PayloadKind::stack));
            CHECK(words[1] == 44);
            CHECK(words[8] == 111);
            CHECK(words[9] == 0x1234);
            CHECK(words[10] == 0x5678);
        }
        CHECK(calls == 3);
        CHECK(rig.records_of(abi::RecordType::ret).size() == 3);
    }
}
