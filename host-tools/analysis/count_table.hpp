// Counts as a table.
#pragma once

#include "analysis/count.hpp"
#include "analysis/durations.hpp"
#include "analysis/order.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <cstdint>

namespace mmioscope::analysis {

struct TableOptions {
    Order order = Order::accesses;  ///< most first; by name: in its order
    std::size_t limit = 20;         ///< rows; 0: all
    std::uint64_t span = 0;         ///< ns that rates are of; 0: none are told
    std::uint32_t frequency = 0;    ///< of durations, Hz; 0: they are not told
    bool total = false;             ///< the last row is of all together
    Durations* durations = nullptr; ///< of the same accesses: percentiles are told, too
};

/// A row for each, and for people a line for those that had no room; `key` is what they were
/// counted by. A duration is the access's own, as records have it (abi/record.hpp): from just
/// before it, with its device locked, until it was known to be done, with the engine's detour in
/// between. What else the trap took is in no record. The table may be read as long as `counts` stay
/// as they are.
table::Table count_table(Key key, CountsByName& counts, const TableOptions& options);

} // namespace mmioscope::analysis
