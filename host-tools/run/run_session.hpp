// One run: QEMU from start to end, its trace recorded, printed and judged.
#pragma once

#include "run/plan.hpp"
#include "system/error.hpp"

namespace mmioscope::run {

/// Carries out `plan`, and reports on standard output. Returns Status::fine only if the guest
/// ended by itself, said what was expected, and the trace is complete. Throws Error if the run
/// cannot be started or recorded.
Status run_session(const Plan& plan);

} // namespace mmioscope::run
