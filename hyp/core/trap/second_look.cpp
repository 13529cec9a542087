#include "trap/second_look.hpp"

#include "arch/instruction.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

/// Each look needs another CPU that unmaps or changes the code between this CPU's fetch and the
/// look, and puts it back in time for the next fetch.
constexpr unsigned most_looks = 32;

/// Whether it is the store-exclusive that Hyp has followed the guest to, which has not trapped: the
/// guest has not fetched it. If it executed that now, with its monitor lost, it would only fail.
/// One to another address is not it.
bool was_followed_to(const Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!cpu.reservation.certain || !access.exclusive || !access.write) return false;
    return access.decoded || arch::decode(cpu.step.code.word, in_thumb(frame)).unpredictable;
}

bool is_in_doubt(const Cpu& cpu, const Frame& frame, abi::FaultReason why) {
    if (was_followed_to(cpu, frame)) return false;
    return why == abi::FaultReason::undecodable || why == abi::FaultReason::loads_pc ||
           !translate(frame, {frame.pc});
}

/// The number of looks in a row, with this one.
unsigned count(Trapped& trapped, std::uint32_t pc, std::uint64_t trap) {
    const bool again = trapped.looked_pc == pc && trapped.looked_trap + 1 == trap;
    trapped.looked_pc = pc;
    trapped.looked_trap = trap;
    return trapped.looks = again ? trapped.looks + 1 : 1;
}

} // namespace

bool look_again(Cpu& cpu, const Frame& frame, abi::FaultReason why) {
    abi::Statistics& statistics = cpu.ring.statistics();
    // While a table is being changed, what lies there cannot be looked at.
    const bool changing = cpu.machine->changes.owner() != Lock::no_owner;
    if (changing) cpu.trapped.looks = 0;
    else if (!is_in_doubt(cpu, frame, why) ||
             count(cpu.trapped, frame.pc, statistics.traps) > most_looks)
        return false;
    port::write<reg::ICIALLU>(0); // and the branch predictor (ARM ARM B2.2.9)
    cpu.view.forget();
    ++statistics.retries;
    return true;
}

} // namespace mmioscope
