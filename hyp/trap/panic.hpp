// Exceptions that Hyp itself takes: none is expected, each ends in a report.
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Prints the report and stops all CPUs. `cpu` may be one that was not set up yet.
[[noreturn]] void hyp_fault(Cpu* cpu, const HypFrame& frame);

/// An exception at `pc` while the report was printed: ends it.
[[noreturn]] void report_fault(std::uint32_t pc);

} // namespace mmioscope

extern "C" [[noreturn]] void mmioscope_hyp_fault(mmioscope::Cpu* cpu,
                                                 const mmioscope::HypFrame& frame);
extern "C" [[noreturn]] void mmioscope_report_fault(std::uint32_t pc);
