// The report of the self-test image (hyp/doctor/) over the hypervisor's UART:
//
//   doctor: NAME: ok: WHAT
//   doctor: NAME: note: WHAT; FIX         it can trace, but something is not as it should be
//   doctor: NAME: FAILED: WHAT; FIX
//
// A line begins with its name before the check is made, so that the last line says where a board
// hangs. Any report ends as each one of the hypervisor does (abi/layout.hpp): with a stop_line,
// whose text begins with `can_trace` if this board can trace, and an end_of_report.
#pragma once

namespace mmioscope::abi::doctor {

inline constexpr char line[] = "doctor: ";
inline constexpr char ok[] = "ok: ";
inline constexpr char note[] = "note: ";
inline constexpr char failed[] = "FAILED: ";
inline constexpr char can_trace[] = "doctor: this board can trace, engine ";
inline constexpr char cannot_trace[] = "doctor: this board cannot trace: ";

} // namespace mmioscope::abi::doctor
