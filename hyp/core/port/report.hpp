// State of the panic report that is kept in the CPU, because no memory can be trusted.
#pragma once

#include "port/barrier.hpp"
#include "port/sysreg.hpp"

extern "C" const char hyp_report_vectors[]; ///< entry/vectors.S

namespace mmioscope::port {

/// How far this CPU's report has come; kept in the guest's thread register, since the guest will
/// not run again.
enum class ReportStage : std::uint32_t { none, begun, stop_line_out };

inline ReportStage report_stage() {
    return static_cast<ReportStage>(read<reg::TPIDRPRW>());
}
inline void set_report_stage(ReportStage stage) {
    write<reg::TPIDRPRW>(static_cast<std::uint32_t>(stage));
}
/// From here on an exception in Hyp ends the report instead of beginning another one.
inline void begin_report() {
    write<reg::HVBAR>(reinterpret_cast<std::uintptr_t>(hyp_report_vectors));
    set_report_stage(ReportStage::begun);
    synchronize_context();
}

} // namespace mmioscope::port
