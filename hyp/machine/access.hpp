// An access that trapped.
#pragma once

#include "arch/instruction.hpp"
#include "base/address.hpp"

namespace mmioscope {

struct Span;

/// What an instruction moves between a register and a device, in one access on the bus.
struct Beat {
    VirtualAddress va;
    PhysicalAddress pa{};
    const Span* span{}; ///< null: not a device; RAM on the other side of a page boundary
    bool write{};
    std::uint8_t place{};  ///< in DeviceAccess::bank
    std::uint32_t value{}; ///< of a store
};

/// An access by the guest that stage 2 stopped: gathered once, at the trap, and passed down. GCC
/// clears and copies up to 64 bytes where they are, and calls for more.
struct DeviceAccess {
    VirtualAddress va;
    PhysicalAddress pa;
    const Span* span{}; ///< of the device; null or withheld: not the guest's
    bool write{};
    bool decoded{};            ///< the five below are valid
    std::uint8_t log2_size{2}; ///< of each access on the bus
    bool sign_extend{};
    bool listed{};               ///< its accesses are in Step::beats; else it is one, of
    std::uint8_t reg{};          ///< a core register: 0 to 14; 15 for stores only
    std::uint8_t beats{1};       ///< accesses of the instruction
    arch::Bank bank{};           ///< whose registers, if listed
    bool exclusive{};            ///< LDREX, STREX and their like: always listed, if decoded
    std::uint8_t status{};       ///< STREX: the core register that tells whether it stored
    bool syndrome{};             ///< decoded from HSR: one access, no writeback
    bool wide{};                 ///< the instruction has 32 bits
    bool recorded{};             ///< reaches a traced device
    bool ends_machine{};         ///< a write after which this CPU may not get to run again
    bool resets_machine{};       ///< and that will then start again
    bool stage1_walk{};          ///< made by the guest's table walk, not by the instruction
    std::uint16_t last_region{}; ///< of its last byte; the span's own as a rule
    Range behind{};              ///< what it may touch, if that is more than its span
};
static_assert(sizeof(void*) != 4 || sizeof(DeviceAccess) <= 64);

} // namespace mmioscope
