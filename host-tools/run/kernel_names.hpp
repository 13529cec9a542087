// The names in the guest's kernel image, for the trace.
#pragma once

#include "run/run_options.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/symbols.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct KernelNames {
    std::string banner;             ///< empty: unknown
    std::vector<std::byte> symbols; ///< payload of a section; empty: none
    std::vector<std::byte> frames;  ///< likewise
    std::optional<symbols::TaskOffsets> task_offsets;
    symbols::FunctionTable functions{{}};
};

/// Takes a second for a kernel that is not in the cache. Call it before the guest's CPUs run, so as
/// not to take their time. Reports kernels that it cannot decode on standard error, and leaves both
/// empty. A bare program has only its own symbols, if it is an ELF file, and those of the user's
/// files. Throws Error (bad_input) if these are wrong.
KernelNames kernel_names(const Options& options);

} // namespace mmioscope::run
