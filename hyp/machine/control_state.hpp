// What commands change, apart from the region map and the tables.
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
    std::uint32_t stopped{}; ///< 1: the selected devices are not traced either
    Choice choice;
    std::atomic<std::uint32_t> broadcast_fails{0}; ///< on any CPU; see arch/errata.hpp
    std::atomic<std::uint32_t> tickets{0};
    ControlSlot slots[abi::control::slots]{}; ///< of the control page; the guest writes them
};

} // namespace mmioscope
