// Enters PL1 for one instruction, to learn whether a breakpoint or HVC stops it (entry/trial.S).
#pragma once

#include "arch/hsr.hpp"

#include <cstdint>

extern "C" {
extern const char mmioscope_trial_stop[], mmioscope_trial_vectors[];
std::uint64_t mmioscope_run_trial();
}

namespace mmioscope::port {

/// The second instruction of the trial, an HVC: where a breakpoint may be.
inline std::uint32_t trial_stop() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(mmioscope_trial_stop));
}
/// Vectors of PL1 for the trial: each is an SMC.
inline std::uint32_t trial_vectors() {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(mmioscope_trial_vectors));
}

/// What ended the trial, and where.
struct TrialEnd {
    arch::Hsr hsr;
    std::uint32_t pc;
};
/// Runs the trial in Supervisor mode, with A, I and F masked. The caller has turned both stages of
/// translation off, and HCR.TSC on.
inline TrialEnd run_trial() {
    const std::uint64_t end = mmioscope_run_trial();
    return {arch::Hsr(static_cast<std::uint32_t>(end)), static_cast<std::uint32_t>(end >> 32)};
}

} // namespace mmioscope::port
