// What the doctor can see before the trial.
#include "doctor/doctor.hpp"

#include "abi/chosen.hpp"
#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "arch/psci.hpp"
#include "arch/psr.hpp"
#include "machine/machine.hpp"
#include "port/firmware.hpp"

namespace mmioscope::doctor {

namespace {

bool counter_runs() {
    constexpr unsigned most_reads = 1'000'000; // longer than a tick of 32 kHz
    const std::uint64_t first = port::read<reg::CNTPCT>();
    for (unsigned n = 0; n < most_reads; ++n)
        if (port::read<reg::CNTPCT>() != first) return true;
    return false;
}

} // namespace

void Doctor::report_entry(const Machine& machine) {
    const bool hyp = arch::mode_of(machine.entry.psr) == arch::Mode::hyp;
    const bool on = (machine.entry.control & (arch::hsctlr_m | arch::hsctlr_c)) != 0;
    report_.begin("entry state");
    report_.ok(hyp ? "Hyp" : "Secure Supervisor, which sets SCR.HCE and goes to Hyp",
               on ? ", MMU or caches on" : ", MMU and caches off");
}

void Doctor::report_firmware(const Machine& machine) {
    report_.begin("PSCI");
    if (!machine.board.psci)
        return report_.ok("none in the tree; registers of the board start CPUs");
    if (machine.config.psci_functions.cpu_on != 0)
        return report_.ok("0.1, which has no version to ask for");
    const std::uint32_t version =
        port::call_firmware(static_cast<std::uint32_t>(psci::Function::version), 0, 0, 0);
    if (version == psci::not_supported)
        return report_.fail(
            "the firmware does not know PSCI_VERSION; build U-Boot with ARMV7_PSCI, "
            "or remove /psci from the tree");
    report_.ok(version >> 16, ".", version & 0xffff);
}

void Doctor::report_core(const Machine& machine) {
    report_.begin("debug unit");
    DebugUnit unit;
    const NoSteps why = unit.start(machine.config.no_breakpoints);
    shadow_works_ = why == NoSteps::none;
    if (shadow_works_) {
        report_.ok(arch::breakpoint_count(port::read<reg::DBGDIDR>()),
                   " breakpoints, one stops PL1 in a trial");
    } else {
        round_ = Round::emulation;
        report_.note(why == NoSteps::forbidden ? abi::chosen::no_breakpoints
                     : why == NoSteps::silent  ? "MDBGen can be set, but no debug event comes"
                                               : "MDBGen cannot be set, or HDBGen is",
                     ": no engine but emulation; accesses that HSR does not describe are stepped "
                     "by SMC at PL1, else refused; for shadow the board must drive DBGEN high (a "
                     "fuse, or a register of its firmware), and no debugger may hold the CPU");
    }

    report_.begin("counter");
    const std::uint32_t frequency = port::read<reg::CNTFRQ>();
    if (!counter_runs())
        report_.fail("CNTPCT stands still; the boot loader must switch the system counter on");
    else if (frequency == 0) report_.fail("CNTFRQ is 0; ", set_frequency);
    else report_.ok("CNTPCT counts, CNTFRQ is ", frequency, " Hz");
    if (machine.board.gic_distributor.value == 0) {
        report_.begin("GIC");
        report_.note("none in the tree that is known; interrupts are not tried");
    }
}

} // namespace mmioscope::doctor
