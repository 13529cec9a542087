// What the doctor concludes from the trial.
#include "doctor/doctor.hpp"

#include "arch/control.hpp"
#include "arch/psci.hpp"
#include "changing/live_tables.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "port/wait.hpp"

namespace mmioscope::doctor {

void Doctor::report_cpu(const Cpu& cpu) {
    const auto number = static_cast<int>(cpu.number);
    const std::uint32_t frequency = port::read<reg::CNTFRQ>();
    const std::uint32_t expected = cpu.machine->area->counter_frequency; // CPU 0's
    report_.begin("CNTFRQ of CPU", number);
    if (frequency != 0 && frequency == expected) report_.ok(frequency, " Hz");
    else report_.fail(frequency, " Hz, CPU 0 has ", expected, "; ", set_frequency);

    report_.begin("ACTLR.SMP of CPU", number);
    if ((port::read<reg::ACTLR>() & arch::actlr_smp) != 0) report_.ok("set");
    else report_.note("clear; firmware must set it, or NSACR.NS_SMP, unless this is an emulator");

    report_.begin("NSACR of CPU", number);
    constexpr std::uint32_t vector = 3u << 10; // CP10 and CP11
    if ((port::read<reg::ID_PFR1>() & arch::pfr1_security) == 0)
        report_.ok("this CPU has no Security Extensions");
    else if ((port::read<reg::NSACR>() & vector) == vector) report_.ok("VFP and NEON are open");
    else report_.note("VFP and NEON are closed; firmware must set CP10 and CP11 for the kernel");
}

// If only stepping fails, the board can still trace by emulation.
void Doctor::report_reads(Cpu& cpu, Round round, std::uint32_t value) {
    constexpr const char* names[] = {"step on CPU", "step by the slow path on CPU",
                                     "emulation on CPU", "step by SMC on CPU"};
    const std::uint64_t ticks = port::read<reg::CNTPCT>() - reads_.begin;
    const abi::Record* last = cpu.ring.recent(0);
    const std::uint32_t records = last == nullptr ? 0 : last->cpu_sequence - reads_.first_sequence;
    report_.begin(names[static_cast<unsigned>(round)], static_cast<int>(cpu.number));
    if (records == reads && last->type == abi::RecordType::access &&
        abi::physical_address(*last) == order_.device && last->value == value)
        return report_.ok(records, " reads of ", Hex{order_.device}, " in the ring, ",
                          static_cast<std::uint32_t>(ticks / reads), " ticks each, the last is ",
                          Hex{value});
    const char* why = records < reads
                          ? "the TLB keeps what a step used, or the breakpoint does not match"
                          : "a step ends in the wrong place, or the ring is not coherent";
    if (round == Round::without_breakpoints)
        return report_.note(records, " records of ", reads,
                            " reads: an access that emulation cannot do is not in the trace");
    if (round == Round::emulation)
        return report_.fail(records, " records of ", reads, " reads; no device traps as it should");
    shadow_works_ = false;
    report_.note(records, " records of ", reads, " reads: ", why,
                 "; use mmioscope,engine=emulation");
}

/// What each move of a page costs the CPU that takes it (services/moving/).
void Doctor::report_translations(const Machine& machine) {
    constexpr unsigned some = 1000, most = 1'000'000;
    const auto turns = order_.turns;
    report_.begin("TLB invalidation");
    const std::uint64_t begin = port::read<reg::CNTPCT>();
    std::uint64_t ticks = 0;
    unsigned times = 0;
    for (; times < most && ticks < order_.ticks / 10; ticks = port::read<reg::CNTPCT>() - begin)
        for (unsigned end = times + some; times < end; ++times) forget_translations();
    unsigned running = 0;
    for (unsigned n = 1; n < machine.cpu_count; ++n) running += order_.turns[n] != turns[n];
    report_.ok(static_cast<std::uint32_t>(ticks * 1'000'000 / order_.ticks * 1000 / times),
               " ns for TLBIALLNSNHIS and DSB, by ", static_cast<std::uint32_t>(ticks),
               " ticks for ", times, ", while ", running,
               " other CPUs run; an emulator's figure says nothing");
}

/// False: it was settled otherwise.
bool Doctor::settle(unsigned cpu, Arrival how) {
    Arrival was = Arrival::awaited;
    if (arrival_[cpu].compare_exchange_strong(was, how, std::memory_order_acq_rel)) return true;
    port::clear_exclusive();
    return false;
}

void Doctor::hear(Cpu& cpu, Frame& frame, Tell what, std::uint32_t value) {
    if (what == Tell::flushed) { // the first one
        if (!settle(cpu.number, Arrival::arrived)) port::halt();
        order_.arrived |= 1u << cpu.number;
    }
    // The CPU that CPU_ON has started may be reporting by now, and only one may.
    if (what == Tell::answer && value == psci::success) return;
    Console uart(cpu.machine->board.uart, cpu.bus);
    report_.to(uart);
    const auto number = static_cast<int>(cpu.number);
    switch (what) {
    case Tell::order: return;
    case Tell::flushed:
        report_.begin("caches of CPU", number);
        if (value == pattern) report_.ok("what Hyp flushes is in memory");
        else
            report_.fail("a word that Hyp flushed is ", Hex{value},
                         " in memory; a cache beyond the CPU's (an outer one) must be off");
        return;
    case Tell::arrived: {
        const std::uint32_t expected = pattern >> 8 | order_.table << 24;
        const std::uint64_t own = port::device_read(port::address_of(&order_.flushed) + 1, 2);
        report_.begin("alignment of CPU", number);
        if (value == expected && own == expected)
            report_.ok("PL1 and Hyp read words at any address");
        else
            report_.fail("a word at an odd address is ", Hex{value}, ", in Hyp ", Hex{own},
                         ", and should be ", Hex{expected}, "; memory is not Normal there");
        return report_cpu(cpu);
    }
    case Tell::reads_begin: {
        const abi::Record* last = cpu.ring.recent(0);
        reads_ = {last != nullptr ? last->cpu_sequence : ~0u, port::read<reg::CNTPCT>()};
        return;
    }
    case Tell::reads_end:
        report_reads(cpu, round_, value);
        if (cpu.number == 0 && cpu.debug.usable()) next_round(cpu, frame);
        return;
    case Tell::steps_end: return report_reads(cpu, Round::without_breakpoints, value);
    case Tell::monitor:
        report_.begin("monitor over a trap");
        if (cpu.debug.is_hyps()) // the trap would have given it back
            report_.fail("reading a debug register does not trap; HDCR.TDA must work");
        else if ((value & 0xff) == 0) report_.ok("kept");
        else
            report_.note("lost, and a store-exclusive to a device ",
                         value >> exclusive_alone_shift == 2 ? "traps" : "fails",
                         " without it; a loop of LDREX and STREX on a traced device ends only if "
                         "nothing but calculations, accesses and branches lie between the two");
        return;
    case Tell::hvc_begin: traps_ = cpu.ring.statistics().traps; return;
    case Tell::hvc_end:
        report_.begin("HVC");
        if (cpu.ring.statistics().traps - traps_ == 2) report_.ok("reaches Hyp: SCR.HCE is set");
        else if (order_.hvc == 0)
            report_.note(
                "undefined: SCR.HCE is clear; firmware should set it, the tracer does without");
        else
            report_.fail(
                "undefined: SCR.HCE is clear, but /psci has method hvc; firmware must set it, "
                "or the method be smc");
        return;
    case Tell::others_run: return report_translations(*cpu.machine);
    case Tell::timer:
        report_.begin("timer");
        if (value != 0) report_.ok("the virtual timer fires");
        else report_.fail("the virtual timer does not fire; is the system counter on?");
        return;
    case Tell::interrupt:
        report_.begin("GIC");
        if ((value & 0x3ff) == trial_interrupt) report_.ok("an interrupt to itself arrives");
        else
            report_.fail(
                "GICC_IAR is ", Hex{value},
                "; the interrupts must be in Group 1, which "
                "only Secure state can set: enter in Secure Supervisor, or U-Boot's nonsec");
        return;
    case Tell::answer:
        report_.begin("CPU_ON");
        report_.fail("the firmware answers ", Hex{value}, "; does its PSCI start CPUs in Hyp?");
        return;
    case Tell::missing:
        if (!settle(value, Arrival::given_up)) return;
        report_.begin("CPU", static_cast<int>(value));
        report_.fail(
            "it did not come within five seconds; the boot loader must leave it waiting as "
            "the tree says, or remove it from /cpus");
        return;
    case Tell::hanging:
        report_.begin("CPU", static_cast<int>(value));
        report_.fail("it came, but is not done after 30 seconds; the line before says where it is");
        return end_with_verdict(cpu);
    case Tell::exception:
        report_.begin("trial");
        report_.fail("an exception on CPU ", cpu.number, ", to mode ", Hex{value, 2});
        return end_with_verdict(cpu);
    case Tell::done:
        if (cpu.number == 0) return end_with_verdict(cpu);
        report_.begin("CPU", number);
        report_.ok("it runs the trial, coherent with CPU 0");
        port::order_memory();
        order_.done |= 1u << cpu.number;
        return;
    }
}

} // namespace mmioscope::doctor
