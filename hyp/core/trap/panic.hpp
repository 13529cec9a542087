// Exceptions that Hyp itself takes. None is expected; each ends in a report.
#pragma once

#include "board/board.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The machine's, also before a CPU has its state, or when that is damaged; by who has the machine.
const Board& board_of_machine();

/// Prints the report and stops all CPUs. `cpu` may be null or not set up yet.
[[noreturn]] void hyp_fault(Cpu* cpu, const HypFrame& frame);

/// Ends the report: printing it caused an exception at `pc`.
[[noreturn]] void report_fault(std::uint32_t pc);

} // namespace mmioscope

extern "C" [[noreturn]] void mmioscope_hyp_fault(mmioscope::Cpu* cpu,
                                                 const mmioscope::HypFrame& frame);
extern "C" [[noreturn]] void mmioscope_report_fault(std::uint32_t pc);
