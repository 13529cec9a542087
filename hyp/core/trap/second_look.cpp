#include "trap/second_look.hpp"

#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

/// Each look needs another CPU that unmaps or changes the code between this CPU's fetch and the
/// look, and puts it back in time for the next fetch.
constexpr unsigned most_looks = 32;

bool is_in_doubt(const Frame& frame, abi::FaultReason why) {
    return why == abi::FaultReason::undecodable || why == abi::FaultReason::loads_pc ||
           !translate(frame, {frame.pc});
}

/// The number of looks in a row, with this one.
unsigned count(Step& step, std::uint32_t pc, std::uint64_t trap) {
    const bool again = step.looked_pc == pc && step.looked_trap + 1 == trap;
    step.looked_pc = pc;
    step.looked_trap = trap;
    return step.looks = again ? step.looks + 1 : 1;
}

} // namespace

bool look_again(Cpu& cpu, const Frame& frame, abi::FaultReason why) {
    abi::Statistics& statistics = cpu.ring.statistics();
    if (!is_in_doubt(frame, why) || count(cpu.step, frame.pc, statistics.traps) > most_looks)
        return false;
    port::write<reg::ICIALLU>(0); // and the branch predictor (ARM ARM B2.2.9)
    cpu.view.forget();
    ++statistics.retries;
    return true;
}

} // namespace mmioscope
