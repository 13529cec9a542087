// What commands change, beside the region map and the tables.
#pragma once

#include "abi/control.hpp"
#include "trace/choice.hpp"

#include <atomic>

namespace mmioscope {

struct ControlSlot {
    std::uint32_t request[4];
    std::uint32_t reply[4];
};

struct ControlState {
    std::uint32_t stopped{}; ///< 1: what is selected is not traced
    Choice choice;
    std::atomic<std::uint32_t> broadcast_fails{0}; ///< arch/errata.hpp, of any CPU
    std::atomic<std::uint32_t> tickets{0};
    ControlSlot slots[abi::control::slots]{}; ///< of the control page: the guest's to write
};

} // namespace mmioscope
