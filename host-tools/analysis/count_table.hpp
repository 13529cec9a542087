// Counts as a table.
#pragma once

#include "analysis/count.hpp"
#include "export/cell.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mmioscope::analysis {

enum class Order { accesses, reads, writes, time, latency, name };

struct TableOptions {
    Order order = Order::accesses; ///< most first; by name: in its order
    std::size_t limit = 20;        ///< rows; 0: all
    std::uint64_t span = 0;        ///< ns that rates are of; 0: none are told
    std::uint32_t frequency = 0;   ///< of durations, Hz; 0: they are not told
};

/// A heading, a line for each, and a line for those that had no room; with line ends. The latency
/// is the time that an access took in the hypervisor, its engine's detour included.
std::string table(const Counts& counts, const TableOptions& options);

/// The same for programs; `by` is what was counted. Times are in ns, and numbers are not rounded.
exporting::Table count_table();
void append(exporting::Table& to, const Counts& counts, const TableOptions& options);

} // namespace mmioscope::analysis
