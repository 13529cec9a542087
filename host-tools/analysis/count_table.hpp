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
    Order order = Order::accesses;  ///< largest first; names in ascending order
    std::size_t limit = 20;         ///< rows; 0: all
    std::uint64_t span = 0;         ///< ns, for rates; 0: shows none
    std::uint64_t guest = 0;        ///< ns that the guest ran, for shares of it; 0: shows none
    std::uint32_t frequency = 0;    ///< of durations, Hz; 0: shows none
    bool total = false;             ///< adds a last row with the sums
    Durations* durations = nullptr; ///< of the same accesses; not null: adds percentiles
};

/// The counts by `key`, a row each; for people, a line tells how many rows exceed the limit. A
/// duration is that of the access alone (abi/record.hpp): from just before it, with its device
/// locked, until it is known to be done; this includes the engine's detour. No record has the rest
/// of the trap's time. Interrupts have no times: those of accesses to a GIC are not theirs. The
/// table refers to `counts`, which must not change while it is in use.
table::Table count_table(Key key, const CountsByName& counts, const TableOptions& options);

} // namespace mmioscope::analysis
