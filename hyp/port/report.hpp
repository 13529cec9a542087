// What the panic report needs of the CPU: no memory may be trusted with it.
#pragma once

#include "port/barrier.hpp"
#include "port/sysreg.hpp"

extern "C" const char hyp_report_vectors[]; ///< entry/vectors.S

namespace mmioscope::port {

/// How far this CPU's report has come. The guest's thread register holds it: the guest will not run
/// again.
enum class ReportStage : std::uint32_t { none, begun, stop_line_out };

inline ReportStage report_stage() {
    return static_cast<ReportStage>(read<reg::TPIDRPRW>());
}
inline void set_report_stage(ReportStage stage) {
    write<reg::TPIDRPRW>(static_cast<std::uint32_t>(stage));
}
/// From here on an exception of Hyp cuts the report short instead of beginning another one.
inline void begin_report() {
    write<reg::HVBAR>(reinterpret_cast<std::uintptr_t>(hyp_report_vectors));
    set_report_stage(ReportStage::begun);
    synchronize_context();
}

} // namespace mmioscope::port
