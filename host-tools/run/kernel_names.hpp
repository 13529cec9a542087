// The names in the guest's kernel image, for the trace.
#pragma once

#include "run/options.hpp"
#include "symbols/function_table.hpp"
#include "symbols/task_offsets.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct KernelNames {
    std::string banner;             ///< empty: not known
    std::vector<std::byte> symbols; ///< a section's payload; empty: there are none
    std::optional<symbols::TaskOffsets> task_offsets;
    symbols::FunctionTable functions{{}};
};

/// Takes half a second, so before the guest's CPUs run: beside them it would be the guest's time.
/// What cannot be decoded is said on standard error, and left empty. A bare program has none but
/// those of the user's files. Throws Error (bad_input) about these.
KernelNames kernel_names(const Options& options);

} // namespace mmioscope::run
