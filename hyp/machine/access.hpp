// An access that trapped.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

struct Span;

/// What an instruction moves between a core register and a device, in one access on the bus.
struct Beat {
    VirtualAddress va;
    PhysicalAddress pa{};
    const Span* span{};    ///< null: not a device; RAM on the other side of a page boundary
    std::uint8_t reg{};    ///< 0 to 14; 15 for stores only
    std::uint32_t value{}; ///< of a store
};

/// An access by the guest that stage 2 stopped: gathered once, at the trap, and passed down.
struct DeviceAccess {
    VirtualAddress va;
    PhysicalAddress pa;
    const Span* span{}; ///< of the device; null or withheld: not the guest's
    bool write{};
    bool decoded{};        ///< the four below are valid
    unsigned log2_size{2}; ///< of the access on the bus
    unsigned reg{};        ///< 0 to 14; 15 for stores only
    bool sign_extend{};
    unsigned beats{1};           ///< accesses of the instruction; more than one: see Step::beats
    bool syndrome{};             ///< decoded from HSR: one access, no writeback
    bool wide{};                 ///< the instruction has 32 bits
    bool recorded{};             ///< reaches a traced device
    bool ends_machine{};         ///< a write after which this CPU may not get to run again
    bool stage1_walk{};          ///< made by the guest's table walk, not by the instruction
    std::uint16_t last_region{}; ///< of its last byte; the span's own as a rule
    bool also_traced{};          ///< a byte behind the first region's is traced
};

} // namespace mmioscope
