// The order of a table of counts.
#pragma once

#include "analysis/count.hpp"

#include <cstdint>

namespace mmioscope::analysis {

enum class Order { accesses, reads, writes, time, latency, name };

/// Rows with a larger weight come first; always 0 for the order of names.
inline std::uint64_t weight(const Count& count, Order order) {
    switch (order) {
    case Order::accesses: return count.accesses();
    case Order::reads: return count.reads;
    case Order::writes: return count.writes;
    case Order::time: return count.duration;
    case Order::latency: return count.longest;
    case Order::name: return 0;
    }
    return 0;
}

} // namespace mmioscope::analysis
