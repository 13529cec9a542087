// What a run watches of the guest's memory, from its start (`mmioscope,watch`), or while it runs.
#pragma once

#include "control/requests.hpp"
#include "symbols/symbols.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::run {

/// Finds the variables in `symbols`, each up to the next symbol, if memory begins at `ram_base`.
/// Throws Error (bad_input) if there is no such symbol.
control::FindDevice variables_in(symbols::SymbolList symbols, std::uint64_t ram_base);

/// The property's cells for `wanted`: BASE+SIZE, what `find` finds, or a word of that
/// (NAME+OFFSET). Throws Error (bad_input).
std::vector<std::uint32_t> watch_cells(const std::vector<std::string>& wanted,
                                       const control::FindDevice& find);

/// Likewise the cells of `mmioscope,pages`; `all`: none, which means all memory.
std::vector<std::uint32_t> page_cells(const std::vector<std::string>& wanted,
                                      const control::FindDevice& find);

} // namespace mmioscope::run
