// What the panic report needs of the CPU: no memory may be trusted with it.
#pragma once

#include "port/barrier.hpp"
#include "port/sysreg.hpp"

extern "C" const char hyp_report_vectors[]; ///< entry/vectors.S

namespace mmioscope::port {

// The guest's thread register holds whether the stop line is out: the guest will not run again.

/// From here on an exception of Hyp cuts the report short instead of beginning another one.
inline void begin_report() {
    write<reg::HVBAR>(reinterpret_cast<std::uintptr_t>(hyp_report_vectors));
    write<reg::TPIDRPRW>(0);
    synchronize_context();
}
inline void stop_line_is_out() {
    write<reg::TPIDRPRW>(1);
}
inline bool is_stop_line_out() {
    return read<reg::TPIDRPRW>() != 0;
}

} // namespace mmioscope::port
