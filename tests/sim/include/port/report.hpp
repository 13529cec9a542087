// Host twin of hyp/port/report.hpp: nothing faults in the simulated Hyp.
#pragma once

namespace mmioscope::port {

inline void begin_report() {}
inline void stop_line_is_out() {}
inline bool is_stop_line_out() {
    return true;
}

} // namespace mmioscope::port
