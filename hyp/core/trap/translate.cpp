#include "trap/translate.hpp"

#include "arch/psr.hpp"
#include "base/field.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

// PAR in the format that Hyp gets (ARM ARM B4.1.112).
constexpr std::uint64_t failed = bit(0);
constexpr std::uint64_t by_stage2 = bit(11) | bit(9); // LPAE, FSTAGE: stage 2 stopped the walk
constexpr std::uint64_t page_mask = 0xff'ffff'f000;

constexpr bool stopped_by_stage2(std::uint64_t par) {
    return (par & failed) != 0 && (par & by_stage2) == by_stage2;
}

void begin_translation(const Frame& frame, VirtualAddress va, bool write) {
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    if (write) {
        if (user) port::write<reg::ATS1CUW>(va.value);
        else port::write<reg::ATS1CPW>(va.value);
    } else {
        if (user) port::write<reg::ATS1CUR>(va.value);
        else port::write<reg::ATS1CPR>(va.value);
    }
}

// ARM ARM B3.12.7. PAR belongs to the guest and is restored. If other CPUs change the tables
// meanwhile, the guest races with itself, as without Hyp.
std::uint64_t result_of(const Frame& frame, VirtualAddress va, bool write) {
    const std::uint64_t kept = port::read<reg::PAR>();
    begin_translation(frame, va, write);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    return par;
}

std::optional<PhysicalAddress> address_in(std::uint64_t par, VirtualAddress va) {
    if ((par & failed) != 0) return std::nullopt;
    return PhysicalAddress{(par & page_mask) | (va.value & (page_size - 1))};
}

} // namespace

bool is_unmapped(const Frame& frame, VirtualAddress va) {
    const std::uint64_t par = result_of(frame, va, false);
    return (par & failed) != 0 && !stopped_by_stage2(par);
}

std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va) {
    return address_in(result_of(frame, va, false), va);
}

std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va) {
    return address_in(result_of(frame, va, true), va);
}

// The step's table without breakpoints has another page in place of the guest's code, and its
// tables may lie there; but such a CPU steps no walk anyway.
std::optional<PhysicalAddress> translate(Cpu& cpu, const Frame& frame, VirtualAddress va,
                                         bool write) {
    std::uint64_t par = result_of(frame, va, write);
    if (stopped_by_stage2(par) && cpu.debug.usable()) {
        cpu.view.enter(*cpu.shadow);
        par = result_of(frame, va, write);
        cpu.view.enter(*cpu.normal);
    }
    return address_in(par, va);
}

} // namespace mmioscope
