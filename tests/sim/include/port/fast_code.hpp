// Host twin of hyp/core/port/fast_code.hpp: the places in the code that the simulated machine
// interprets.
#pragma once

#include "entry/fast_code.hpp"
#include "sim/hyp_code.hpp"
#include "sim/port.hpp"

namespace mmioscope::port {

inline std::uint32_t fast_code(FastCode which) {
    static const std::uint32_t places[] = {sim::hyp_symbol("mmioscope_fast_slow"),
                                           sim::hyp_symbol("mmioscope_fast_emulate"),
                                           sim::hyp_symbol("mmioscope_fast_emulate_other"),
                                           sim::hyp_symbol("mmioscope_fast_step"),
                                           sim::hyp_symbol("mmioscope_fast_step_other"),
                                           sim::hyp_symbol("mmioscope_fast_open"),
                                           sim::hyp_symbol("mmioscope_fast_open_other"),
                                           sim::hyp_symbol("mmioscope_fast_work"),
                                           sim::hyp_symbol("mmioscope_fast_reserve"),
                                           sim::hyp_symbol("mmioscope_fast_check_task"),
                                           sim::hyp_symbol("mmioscope_fast_finish"),
                                           sim::hyp_symbol("mmioscope_fast_finish_end")};
    return places[static_cast<unsigned>(which)];
}

inline std::uint32_t fast_access(bool emulation, unsigned which) {
    const std::uint32_t table =
        sim::hyp_symbol(emulation ? "mmioscope_fast_emulations" : "mmioscope_fast_steps");
    return *static_cast<const std::uint32_t*>(sim::memory_at({table + 4 * which}));
}

} // namespace mmioscope::port
