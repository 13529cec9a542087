// The probes of a run, from the kernel's start (`mmioscope,probes`), or while it runs.
#pragma once

#include "control/requests.hpp"
#include "run/input.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct Probes {
    std::vector<std::uint32_t> cells;                        ///< of mmioscope,probes
    std::optional<std::vector<std::uint32_t>> loads_modules; ///< of mmioscope,loads-modules
    std::vector<std::string> of_modules;                     ///< MODULE:FUNCTION
};

/// Those for functions of `kernel`, an image: their names, with `*`, `?` and `[]` as
/// in a shell, or addresses of instructions; `@FILE`: one of these in each line. Throws Error
/// (bad_input) if there is no such function. `returns`: of each function, too; not of addresses,
/// and of what only counts. `memory`: where it begins.
Probes probes_of(const std::vector<std::string>& wanted, bool returns, const Bytes& kernel,
                 std::uint64_t memory);

/// The virtual address at which a kernel whose first byte is at `text` has the first byte of
/// memory: its decompressor puts it there (AUTO_ZRELADDR), and 128 MiB are mapped in one piece
/// (Documentation/arm/memory.rst).
std::uint32_t memory_begin(std::uint32_t text);

/// Finds functions of `kernel`, an image, and of `modules`, files with their addresses
/// (symbols/symbol_files.hpp). Throws Error (bad_input) if they are none.
control::FindCode code_of(const Bytes& kernel, const std::vector<std::string>& modules,
                          bool returns);

/// `MODULE:FUNCTION`.
inline bool names_module(std::string_view function) {
    return function.find(':') != function.npos;
}
/// Whether a `function` of `module` (empty: of the kernel) is called so, as in a shell.
bool fits(const std::string& pattern, const std::string& module, const std::string& function);

} // namespace mmioscope::run
