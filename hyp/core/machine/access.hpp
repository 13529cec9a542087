// An access of the guest that trapped.
#pragma once

#include "arch/instruction.hpp"
#include "base/address.hpp"

namespace mmioscope {

struct Span;

/// One access on the bus of an instruction that makes several.
struct Beat {
    VirtualAddress va;
    PhysicalAddress pa{};
    const Span* span{}; ///< null: RAM that nobody owns, on the other side of a page boundary
    bool unmapped{};    ///< by stage 1, for this access: it has no `pa`
    bool write{};
    std::uint8_t log2_size{2};
    std::uint8_t place{};  ///< index in DeviceAccess::bank
    std::uint8_t byte{};   ///< of the value at that place, the access's lowest one
    std::uint32_t value{}; ///< of a store, or of a load of PC
};

/// What is known of an access before its place, and until it is decoded: four words, which each
/// trap sets at once.
struct alignas(4) AccessForm {
    bool decoded{};  ///< log2_size, sign_extend, listed, reg and beats are valid
    bool syndrome{}; ///< decoded from HSR: one access, no writeback
    bool plain{};    ///< one access of `reg`: no walk, nothing beyond its span, and nobody sees it
    bool wide{};     ///< a 32-bit instruction
    bool write{};    ///< of the first access
    bool sign_extend{};
    std::uint8_t log2_size{2};  ///< of each value; some may be several accesses (trap/split.hpp)
    std::uint8_t reg{};         ///< core register: 0 to 14; 15 for stores only
    std::uint8_t beats{1};      ///< number of accesses
    bool recorded{};            ///< reaches what is traced
    bool stage1_walk : 1 {};    ///< made by the guest's stage-1 walk, not by the instruction
    bool listed : 1 {};         ///< its accesses are in Trapped::beats; else it is one of `reg`
    bool exclusive : 1 {};      ///< LDREX, STREX and the like; always listed, if decoded
    bool ends_machine : 1 {};   ///< a write after which this CPU may not run again
    bool resets_machine : 1 {}; ///< ends_machine, and the machine then starts again
    bool hooked : 1 {};         ///< somebody sees it (AccessHooks), and is told behind it
    arch::Bank bank{};          ///< which registers, if listed
    std::uint8_t status{};      ///< STREX: the core register for the result
    std::uint16_t beyond{};     ///< bytes it may touch, if some lie beyond its span; else 0. If
                                ///< listed 1 means that, too
};
static_assert(sizeof(AccessForm) == 16);

/// An access that stage 2 stopped. The trap fills it in.
struct DeviceAccess : AccessForm {
    PhysicalAddress pa{};
    VirtualAddress va{};
    const Span* span{};    ///< of the device; null or withheld: no device of the guest
    std::uint32_t value{}; ///< of a store that is not listed: what its register has
};

} // namespace mmioscope
