// Host twin of hyp/core/port/report.hpp: nothing faults in the simulated Hyp.
#pragma once

namespace mmioscope::port {

enum class ReportStage { none, begun, stop_line_out };

inline void begin_report() {}
inline void set_report_stage(ReportStage) {}
inline ReportStage report_stage() {
    return ReportStage::stop_line_out;
}

} // namespace mmioscope::port
