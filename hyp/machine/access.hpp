// An access that trapped.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

struct Span;

/// An access by the guest that stage 2 stopped: gathered once, at the trap, and passed down.
struct DeviceAccess {
    VirtualAddress va;
    PhysicalAddress pa;
    const Span* span{};     ///< of the device; never null here
    bool write{};
    bool decoded{};         ///< the four below are valid
    unsigned log2_size{};   ///< of the access on the bus
    unsigned reg{};         ///< 0 to 14; 15 for stores only
    bool sign_extend{};
    bool syndrome{};        ///< decoded from HSR: one access, no writeback
    bool wide{};            ///< the instruction has 32 bits
    bool recorded{};        ///< a device that is traced
    bool ends_machine{};    ///< a write after which this CPU may not get to run again
    bool stage1_walk{};     ///< made by the guest's table walk, not by the instruction
    std::uint16_t last_region{}; ///< of the last byte it may touch; the span's own as a rule
};

} // namespace mmioscope
