// Host twin of hyp/core/port/trial.hpp: the simulated CPU makes the trial (sim/guest_trial.cpp).
#pragma once

#include "arch/hsr.hpp"
#include "sim/port.hpp"

namespace mmioscope::port {

inline std::uint32_t trial_stop() {
    return sim::trial_stop;
}
inline std::uint32_t trial_vectors() {
    return sim::trial_vectors;
}

struct TrialEnd {
    arch::Hsr hsr;
    std::uint32_t pc;
};
inline TrialEnd run_trial() {
    const sim::TrialEnd end = sim::run_trial();
    return {arch::Hsr(end.hsr), end.pc};
}

} // namespace mmioscope::port
