// An instruction's accesses to memory, for traps that HSR does not describe (ISV=0).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

// Numbers of core registers.
inline constexpr unsigned sp = 13;
inline constexpr unsigned lr = 14;
inline constexpr unsigned pc = 15;

/// The most accesses of one instruction: VLDM of sixteen doublewords, VLD4 of bytes.
inline constexpr unsigned max_beats = 32;

/// Which registers an instruction moves.
enum class Bank : std::uint8_t {
    core,   ///< of the present mode; place 0 to 15, or place_spsr
    user,   ///< of User mode: LDM and STM with `^`; place 0 to 15
    vector, ///< of VFP and NEON; place: byte in D0 to D31, 0 to 255
};
inline constexpr std::uint8_t place_spsr = 16;

/// The lowest address that is accessed: R[base], plus or minus R[index] if there is one, shifted,
/// plus offset.
struct Address {
    static constexpr std::uint8_t no_index = 0xff;

    std::uint8_t base{};      ///< 15: Align(PC, 4)
    std::uint8_t base_mode{}; ///< SRS: CPSR.M of the mode whose SP is the base; 0: the present mode
    std::uint8_t index{no_index};
    bool subtract_index : 1 {};
    std::uint8_t shift : 7 {}; ///< of the index: bits 11:5 of an ARM word, amount and type
    std::int32_t offset{};
};

/// `value` shifted as Address::shift says (DecodeImmShift(), Shift(): A8.4.3); `carry`: CPSR.C.
std::uint32_t shifted(std::uint32_t value, unsigned shift, bool carry);

/// Only those of accesses are ever written or read, so the others are not cleared, which would cost
/// more than most decoding.
class Places {
public:
    Places() {}
    std::uint8_t& operator[](unsigned n) { return of_[n]; }
    std::uint8_t operator[](unsigned n) const { return of_[n]; }

private:
    std::uint8_t of_[max_beats];
};

/// An instruction's accesses to memory. If neither `load` nor `store` is set, it makes none.
struct Instruction {
    bool wide{true}; ///< it has 32 bits
    bool load{};
    bool store{};         ///< with `load`: SWP, a load and a store at the same address
    bool exclusive{};     ///< LDREX, STREX and those of other sizes
    bool loads_pc{};      ///< where it goes on depends on what the device answers
    bool writeback{};     ///< changes its base register
    bool unpredictable{}; ///< or it stores an UNKNOWN value: `beats` is 0
    bool sign_extend{};
    bool pairs{};       ///< two words make one 64-bit value (VFP and NEON)
    bool consecutive{}; ///< its elements fill whole registers, one after the other (VLD1, VST1)
    Bank bank{};
    std::uint8_t status{};     ///< STREX: the register for the result
    std::uint8_t log2_size{2}; ///< of each access on the bus
    std::uint8_t beats{};      ///< accesses, in address order; 0: not known (LDC, UNPREDICTABLE)
    Address address{}; ///< decode() leaves out that of a single load or store: set_address()
    Places place{};    ///< for each access, where its value comes from or goes to

    bool accesses_memory() const { return load || store; }
};

/// Whether `first_halfword` begins a 32-bit Thumb instruction (ARM ARM A6.1).
constexpr bool is_wide_thumb(std::uint16_t first_halfword) {
    return (first_halfword >> 11) >= 0x1d;
}

/// Decodes an ARM word or a Thumb instruction: a 16-bit one as it is, a 32-bit one with its first
/// halfword in bits 31:16. ARMv7-A with VFP and NEON. What DDI 0406C calls UNDEFINED makes no
/// accesses.
Instruction decode(std::uint32_t word, bool thumb);
/// Sets `i.address`, if `i` is the instruction `word`. Few need it: usually a single load or store
/// is where it trapped.
void set_address(Instruction& i, std::uint32_t word, bool thumb);

} // namespace mmioscope::arch
