// Which watched memory moves between CPUs, for sharing --memory. docs/memory.md defines a move.
#pragma once

#include "analysis/analyses.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::analysis {

/// What makes a row.
enum class MovesBy { page, line, symbol, function, task };
inline const std::vector<std::string> moves_by_words{"page", "line", "symbol", "function", "task"};

/// `memory`: its region in the trace (tree::guest_memory_in()). `selects`: some events are left
/// out, so nobody knows what memory holds. The table has a row for each page, line and so on,
/// `most` at most.
std::unique_ptr<Analysis> make_memory_moves(MovesBy by, std::optional<std::uint32_t> memory,
                                            bool selects, std::size_t most);

} // namespace mmioscope::analysis
