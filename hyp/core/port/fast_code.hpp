// The addresses of code in entry/fast_path.S, for FastState.
#pragma once

#include "entry/fast_code.hpp"

#include <cstdint>

extern "C" {
extern const char mmioscope_fast_slow[], mmioscope_fast_emulate[], mmioscope_fast_step[];
extern const char mmioscope_fast_emulate_other[], mmioscope_fast_step_other[];
extern const char mmioscope_fast_open[], mmioscope_fast_open_other[];
extern const char mmioscope_fast_work[], mmioscope_fast_reserve[], mmioscope_fast_check_task[];
extern const char mmioscope_fast_finish[], mmioscope_fast_finish_end[];
extern const std::uint32_t mmioscope_fast_emulations[8], mmioscope_fast_steps[8];
}

namespace mmioscope::port {

inline std::uint32_t fast_code(FastCode which) {
    const char* const places[] = {
        mmioscope_fast_slow,       mmioscope_fast_emulate,    mmioscope_fast_emulate_other,
        mmioscope_fast_step,       mmioscope_fast_step_other, mmioscope_fast_open,
        mmioscope_fast_open_other, mmioscope_fast_work,       mmioscope_fast_reserve,
        mmioscope_fast_check_task, mmioscope_fast_finish,     mmioscope_fast_finish_end};
    return reinterpret_cast<std::uintptr_t>(places[static_cast<unsigned>(which)]);
}

/// The code for access `which`: loads of 1, 2 and 4 bytes, of 4 bytes to LR, then such stores.
inline std::uint32_t fast_access(bool emulation, unsigned which) {
    return emulation ? mmioscope_fast_emulations[which] : mmioscope_fast_steps[which];
}

} // namespace mmioscope::port
