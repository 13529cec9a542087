// Host twin of hyp/core/port/firmware.hpp: the test implements the firmware.
#pragma once

#include "sim/port.hpp"

namespace mmioscope::port {

inline std::uint32_t call_firmware(std::uint32_t function, std::uint32_t a, std::uint32_t b,
                                   std::uint32_t c) {
    sim::complete_system(); // the DSB before the SMC
    return sim::call_firmware({function, {a, b, c}});
}
inline std::uint32_t cpu_on_entry() {
    return sim::cpu_on_entry;
}

} // namespace mmioscope::port
