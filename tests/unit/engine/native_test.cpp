// Each way in which a step can end, compared with the same guest without a hypervisor: the whole
// state visible afterwards, and the accesses to its devices, must be the same.
#include "sim/judge.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

#include <sstream>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t plain_pc = 0x8002'8000;
constexpr std::uint32_t first_level = 0x8030'0000;
constexpr std::uint32_t second_level = 0x8030'4000;
constexpr std::uint32_t code_frame = 0x8031'0000;
// Pages that the guest's own tables map: code before an unmapped page, code before a device whose
// bus aborts, and a device that is unmapped.
constexpr std::uint32_t window = 0x4000'0000;
constexpr std::uint32_t before_nothing = window + 0x0ffc;
constexpr std::uint32_t before_broken = window + 0x2ffc;
constexpr std::uint32_t lent = window + 0x4000;
constexpr unsigned lent_page = 4;
// A device that the guest maps as Normal memory, like Linux video memory and BARs (ioremap_wc).
constexpr std::uint32_t as_memory = window + 0x5000;

constexpr std::uint32_t nop = 0xe320'f000;
constexpr std::uint32_t four_bytes = 0x1e7; // DBGBCR: any mode, enabled
constexpr std::uint32_t any_access = 0x1ff; // DBGWCR, likewise

/// What the guest does, and what happens to it when it executes the access at `pc`.
struct Ending {
    const char* name;
    std::uint32_t device{at::fifo};
    std::uint32_t pc{plain_pc};
    std::uint32_t before{};  ///< bytes of NOPs in front of it, where the guest comes
    std::uint32_t next{nop}; ///< the next instruction
    std::uint32_t breakpoint{};
    std::uint32_t watchpoint{};
    bool irq{};
    bool fiq{};
    bool abort{};
    bool unmapped{}; ///< by another CPU, after the hypervisor has begun the step
};

const Ending endings[] = {
    {.name = "as planned"},
    {.name = "an IRQ comes", .irq = true},
    {.name = "an FIQ comes", .fiq = true},
    {.name = "an asynchronous abort comes", .abort = true},
    {.name = "all three come", .irq = true, .fiq = true, .abort = true},
    {.name = "the bus answers with an error", .device = at::broken},
    {.name = "the bus answers with an error, and an IRQ comes", .device = at::broken, .irq = true},
    {.name = "the bus answers with an error, all three come",
     .device = at::broken,
     .irq = true,
     .fiq = true,
     .abort = true},
    {.name = "not aligned", .device = at::fifo + 2},
    {.name = "not aligned, and Normal memory", .device = as_memory + 0x41},
    {.name = "not aligned, and Normal memory, all three come",
     .device = as_memory + 0x42,
     .irq = true,
     .fiq = true,
     .abort = true},
    {.name = "not mapped any more", .device = lent, .unmapped = true},
    {.name = "not mapped any more, all three come",
     .device = lent,
     .irq = true,
     .fiq = true,
     .abort = true,
     .unmapped = true},
    {.name = "the second word is not mapped", .device = as_memory + 0xffc},
    {.name = "the second word is not mapped, all three come",
     .device = as_memory + 0xffc,
     .irq = true,
     .fiq = true,
     .abort = true},
    {.name = "the next page is not mapped", .pc = before_nothing},
    {.name = "the next page is not mapped, an FIQ comes", .pc = before_nothing, .fiq = true},
    {.name = "the next page is a device that aborts", .pc = before_broken},
    {.name = "the next instruction is undefined", .next = 0xe7f0'00f0},
    {.name = "the next instruction is BKPT", .next = 0xe120'0070},
    {.name = "the next instruction is SVC", .next = 0xef00'0000},
    {.name = "the next instruction has a breakpoint", .breakpoint = plain_pc + 4},
    {.name = "the instruction has a breakpoint", .breakpoint = plain_pc},
    {.name = "a breakpoint elsewhere", .breakpoint = plain_pc + 0x100},
    {.name = "the abort vector has a breakpoint", .device = at::broken, .breakpoint = 0x8001'8010},
    {.name = "the address has a watchpoint", .watchpoint = at::fifo},
    {.name = "the address has a watchpoint, an IRQ comes", .watchpoint = at::fifo, .irq = true},
};

/// The form of the access.
struct Form {
    std::uint32_t word; ///< with the address in r0 and the register r2
    std::uint32_t masks;
    bool user;
    bool described; ///< by HSR: emulated
};
const Form forms[] = {
    {0xe590'2000, 0, false, true},      // ldr r2, [r0]
    {0xe480'2004, 0, true, false},      // str r2, [r0], #4
    {0xe1c0'20b0, 0x0c0, true, true},   // strh r2, [r0]
    {0xe490'2004, 0x180, false, false}, // ldr r2, [r0], #4
    {0xe8b0'001c, 0x100, true, false},  // ldmia r0!, {r2-r4}
    {0xe590'e000, 0, false, true},      // ldr lr, [r0]
    {0xe490'e004, 0, false, false},     // ldr lr, [r0], #4
    {0xe8b0'6004, 0, false, false},     // ldmia r0!, {r2, sp, lr}
};

const std::vector<std::string> untraced{"none"};

void write_tables(Ram& ram) {
    constexpr std::uint32_t section = 0xc02; // full access
    constexpr std::uint32_t page = 3u << 4 | 2;
    for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
        for (std::uint32_t va = begin; va < begin + 0x0200'0000; va += 1 << 20)
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
    ram.store<std::uint32_t>(first_level + (window >> 20 << 2), second_level | 1);
    constexpr std::uint32_t uncached = 1u << 6; // TEX = 1, C = B = 0: Normal Non-cacheable
    const std::uint32_t pages[] = {code_frame, 0,        code_frame,
                                   at::broken, at::wide, at::wide | uncached};
    for (unsigned n = 0; n < 6; ++n)
        ram.store<std::uint32_t>(second_level + 4 * n, pages[n] != 0 ? pages[n] | page : 0);
}

Code& turn_mmu_on(Code& code) {
    code.mov(0, first_level).word(0xee02'0f10);                          // TTBR0
    code.mov(0, 0x5555'5555).word(0xee03'0f10);                          // DACR
    return code.mov(0, 0x00c5'0079).word(0xee01'0f10).word(0xf57f'f06f); // SCTLR, ISB
}

void set_up_debug(Code& code, const Ending& ending) {
    if (ending.breakpoint == 0 && ending.watchpoint == 0) return;
    code.mov(1, 0).word(0xee01'1e90);                                       // DBGOSLAR: unlocked
    code.mov(1, ending.breakpoint).word(0xee00'1e95);                       // DBGBVR5
    code.mov(1, ending.breakpoint != 0 ? four_bytes : 0).word(0xee00'1eb5); // DBGBCR5
    code.mov(1, ending.watchpoint).word(0xee00'1ed1);                       // DBGWVR1
    code.mov(1, ending.watchpoint != 0 ? any_access : 0).word(0xee00'1ef1); // DBGWCR1
    code.mov(1, 0x8014).word(0xee00'1e52); // DBGDSCR: MDBGen, a method of entry
}

std::uint32_t physical(std::uint32_t pc) {
    return pc >= window && pc < lent ? code_frame | (pc & 0xfff) : pc;
}

void write_guest(Rig& rig, const Ending& ending, const Form& form) {
    write_tables(rig.simulation.ram);
    Code code = rig.program(0);
    turn_mmu_on(code);
    set_up_debug(code, ending);
    code.mov(0, ending.device).mov(1, 1).mov(2, 0x1234'89ab).cpsie_aif();
    if (form.masks != 0) code.word(0xf10c'0000 | form.masks); // cpsid
    if (form.user) code.cps(0x10);
    code.mov(12, ending.pc - ending.before).bx(12);
    Code there(rig.simulation.ram, physical(ending.pc - ending.before));
    while (there.here() != physical(ending.pc)) there.nop();
    there.word(form.word).word(ending.next).add(1, 1, 1).end();
}

/// Happens once, when the guest is at `pc`.
void make_it_happen(Rig& rig, const Ending& ending, std::uint32_t pc) {
    rig.simulation.meanwhile = [&rig, &ending, pc, done = false](Core& core) mutable {
        if (core.frame.pc != pc || done) return;
        core.irq_pending |= ending.irq;
        core.fiq_pending |= ending.fiq;
        core.abort_pending |= ending.abort;
        done = !ending.unmapped || rig.simulation.hypervisor == nullptr ||
               in_step(rig.machine->cpus[0]);
        if (!done) {
            core.irq_pending = core.fiq_pending = core.abort_pending = false;
        } else if (ending.unmapped) {
            rig.simulation.ram.store<std::uint32_t>(second_level + 4 * lent_page, 0);
            core.tlb.forget({.by_hyp = true});
        }
    };
}

/// Everything that the guest can read of its CPU, line by line.
std::string state_of(Core& core) {
    std::ostringstream out;
    const auto line = [&out](const char* what, unsigned n, std::uint64_t value) {
        out << what << n << std::hex << " 0x" << value << std::dec << "\n";
    };
    for (unsigned n = 0; n < 13; ++n) line("r", n, core.frame.r[n]);
    line("lr_usr", 0, core.frame.lr_usr);
    line("pc", 0, core.frame.pc);
    line("cpsr", 0, core.frame.psr);
    for (unsigned n = 0; n < core.banked.size(); ++n) line("banked", n, core.banked[n]);
    for (unsigned n = 0; n < core.vector.size(); ++n) line("d", n, core.vector[n]);
    constexpr Encoding system[] = {
        encoding_of<reg::DFSR>(),     encoding_of<reg::DFAR>(),    encoding_of<reg::IFSR>(),
        encoding_of<reg::IFAR>(),     encoding_of<reg::SCTLR>(),   encoding_of<reg::VBAR>(),
        encoding_of<reg::TTBR0>(),    encoding_of<reg::PAR>(),     encoding_of<reg::DBGDSCR>(),
        encoding_of<reg::DBGOSLSR>(), encoding_of<reg::DBGOSDLR>()};
    for (unsigned n = 0; n < std::size(system); ++n) line("system", n, core.system.get(system[n]));
    for (unsigned n = 0; n < 6; ++n)
        for (const unsigned opc2 : {4u, 5u, 6u, 7u}) // values and controls
            line("debug", 8 * n + opc2, core.system.get(encode32(14, 0, 0, n, opc2)));
    line("irq", 0, core.irq_pending);
    line("fiq", 0, core.fiq_pending);
    line("abort", 0, core.abort_pending);
    line("monitor", 0, core.monitor);
    return out.str();
}

std::string devices_of(const Rig& rig) {
    std::ostringstream out;
    for (const BusAccess& a : rig.bus_log(at::fifo, 0x10'0000))
        out << (a.write ? "W" : "R") << (1 << a.log2_size) << std::hex << " 0x" << a.address
            << " 0x" << a.value << std::dec << "\n";
    return out.str();
}

std::string run(const RigOptions& options, const Ending& ending, const Form& form,
                std::uint32_t moment) {
    Rig rig(options);
    write_guest(rig, ending, form);
    make_it_happen(rig, ending, moment);
    rig.run();
    Core& core = rig.simulation.cores[0];
    const bool recorded = !options.native && options.tree.trace != untraced;
    const std::string trace = recorded ? compare_with_bus(rig) : "";
    return rig.failure() + trace + (core.ended ? "" : "no end\n") + state_of(core) +
           devices_of(rig);
}

/// The lines that differ; empty if none do.
std::string difference(const std::string& found, const std::string& native) {
    std::istringstream a(found);
    std::istringstream b(native);
    std::string out;
    for (;;) {
        std::string left;
        std::string right;
        std::getline(a, left);
        std::getline(b, right);
        if (!a && !b) return out;
        if (left != right) out += left + ", natively " + right + "\n";
    }
}

} // namespace

TEST_CASE("a device that is not traced, mapped as Normal memory, behaves as natively") {
    RigOptions options = options_for(abi::EngineKind::shadow, 1, 1);
    options.tree.trace = untraced;
    RigOptions native = options;
    native.native = true;
    const Ending ending{.name = "not aligned, and Normal memory", .device = as_memory + 0x41};
    for (const Form& form : forms) {
        CAPTURE(form.word);
        const std::string found = run(options, ending, form, ending.pc);
        CHECK(difference(found, run(native, ending, form, ending.pc)) == "");
    }
}

// What the guest's CPU has fetched, by a translation that its TLB still has, Hyp need not find any
// more. The guest's own abort of the fetch is one of the orders that can happen natively.
TEST_CASE("code that another CPU unmaps after its fetch is the guest's own prefetch abort",
          "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const bool dbgen_low = GENERATE(false, true);
    const Ending ending{.name = "", .pc = window + 0x100, .before = 4};
    std::uint64_t looks = 0;
    const auto run_it = [&](RigOptions options, const Form& form) {
        Rig rig(options);
        write_guest(rig, ending, form);
        rig.simulation.meanwhile = [&rig, &ending, native = options.native](Core& core) {
            if (core.frame.pc != ending.pc) return;
            rig.simulation.ram.store<std::uint32_t>(second_level, 0);
            if (native) core.tlb.forget({.by_hyp = true});
        };
        rig.run();
        if (!options.native) looks += rig.machine->cpus[0].ring.statistics().retries;
        return rig.failure() + (options.native ? "" : compare_with_bus(rig)) +
               state_of(rig.simulation.cores[0]) + devices_of(rig);
    };
    for (std::uint64_t seed = 1; seed <= 16; ++seed)
        for (Form form : forms) {
            if (form.described) continue;
            if (dbgen_low) form.user = false;
            CAPTURE(engine, dbgen_low, seed, form.word);
            RigOptions options = options_for(engine, 1, seed);
            options.conditions.dbgen_low = dbgen_low;
            const std::string found = run_it(options, form);
            options.native = true;
            CHECK(difference(found, run_it(options, form)) == "");
        }
    CHECK(looks > 0);
}

TEST_CASE("code that another CPU changes after its fetch is fetched again", "[protocol]") {
    RigOptions options =
        options_for(GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation), 1, 1);
    options.conditions.keeps_old_code = true;
    const std::uint32_t now = GENERATE(as<std::uint32_t>{}, nop, 0xe8b0'801cu); // and ldmia r0!, {r2-r4, pc}
    const Form& form = forms[4];
    const Ending ending{.name = "", .pc = plain_pc + 0x100, .before = 4};
    Rig rig(options);
    write_guest(rig, ending, form);
    rig.simulation.meanwhile = [&rig, &ending, now, times = 0](Core& core) mutable {
        if (core.frame.pc != ending.pc) return;
        rig.simulation.ram.store<std::uint32_t>(ending.pc, ++times == 1 ? now : nop);
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.reg(0, 0) == ending.device); // nothing was loaded
    CHECK(rig.bus_log(at::fifo, 0x1000).empty());
    CHECK(rig.records_of(abi::RecordType::fault).empty());
    CHECK(rig.machine->cpus[0].ring.statistics().retries == 1);
}

TEST_CASE("however a step ends, the guest sees what it would see without the hypervisor") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    RigOptions options = options_for(engine, 1, 1);
    options.conditions.prefetch_abort_first = GENERATE(false, true);
    options.conditions.dbgen_low = GENERATE(0u, ~0u);
    const bool emulates = engine == abi::EngineKind::emulation || options.conditions.dbgen_low != 0;
    RigOptions native = options;
    native.native = true;
    for (const Ending& ending : endings)
        for (Form form : forms) {
            // Without breakpoints a step of User mode is refused.
            if (options.conditions.dbgen_low != 0) form.user = false;
            const bool stepped = !form.described || !emulates;
            if (ending.unmapped && !stepped) continue; // Hyp's own actions came first
            // In the step an interrupt waits behind the abort of the next fetch; which of two
            // simultaneous ones is taken first is IMPLEMENTATION DEFINED (ARM ARM B1.8.1).
            // Without breakpoints a step ends before a fetch that stage 2 stops.
            const bool behind =
                stepped && (options.conditions.dbgen_low != 0
                                ? ending.pc == before_nothing
                                : ending.pc != plain_pc && options.conditions.prefetch_abort_first);
            CAPTURE(engine, options.conditions.dbgen_low, options.conditions.prefetch_abort_first,
                    ending.name, form.word);
            const std::string found = run(options, ending, form, ending.pc);
            const std::string wanted = run(native, ending, form, ending.pc + (behind ? 4 : 0));
            CHECK(difference(found, wanted) == "");
        }
}
