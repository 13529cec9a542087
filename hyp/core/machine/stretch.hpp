// The stretch of the guest's code from a load-exclusive to its store-exclusive (trap/stretch.hpp).
// Meanwhile a step is armed (Step::ops: stretch_steps), Step::stop is where the guest stops, and the
// normal table is in use.
#pragma once

namespace mmioscope {

struct Stretch {
    static constexpr unsigned most = 64; ///< instructions that are looked at

    bool tries_order{}; ///< the stretch is one store-exclusive, to find out MonitorOrder
    bool following{};   ///< the guest came here straight from the load-exclusive
    unsigned left{};    ///< instructions that may still be looked at
};

/// When a store-exclusive asks the CPU's own monitor: before it traps, and then does not trap if
/// the monitor is open, or later (IMPLEMENTATION DEFINED, ARM ARM A8.8.212).
enum class MonitorOrder : unsigned char { unknown, first, last };

} // namespace mmioscope
