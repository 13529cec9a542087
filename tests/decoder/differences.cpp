#include "differences.hpp"

namespace mmioscope::decoder_test {

namespace {

unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}
bool is_set(std::uint32_t word, unsigned n) {
    return (word >> n & 1) != 0;
}

// Parts of the encoding tables, as in A5, A6 and A7.

bool is_coprocessor(const Pair& p) {
    return p.set == Set::thumb32 ? field(p.word, 31, 29) == 7 && field(p.word, 27, 25) == 6
                                 : p.set == Set::arm && field(p.word, 27, 25) == 6;
}
bool is_vfp(const Pair& p) {
    return is_coprocessor(p) && field(p.word, 11, 9) == 5;
}
bool is_structure(const Pair& p) {
    const unsigned top = field(p.word, 31, 24);
    return !is_set(p.word, 20) &&
           ((p.set == Set::arm && top == 0xf4) || (p.set == Set::thumb32 && top == 0xf9));
}
bool is_multiple(const Pair& p) {
    return is_structure(p) && !is_set(p.word, 23);
}
bool is_all_lanes(const Pair& p) {
    return is_structure(p) && is_set(p.word, 23) && field(p.word, 11, 10) == 3;
}
bool is_arm_extra(const Pair& p) {
    return p.set == Set::arm && field(p.word, 31, 28) != 0xf && field(p.word, 27, 25) == 0 &&
           is_set(p.word, 7) && is_set(p.word, 4) && field(p.word, 6, 5) != 0;
}
bool is_thumb_single(const Pair& p) {
    return p.set == Set::thumb32 && field(p.word, 31, 25) == 0x7c && !is_structure(p);
}
bool is_thumb_dual(const Pair& p) {
    return p.set == Set::thumb32 && field(p.word, 31, 25) == 0x74 && is_set(p.word, 22);
}
bool base_is_pc(const Pair& p) {
    return field(p.word, 19, 16) == 15;
}
bool base_is_sp(const Pair& p) {
    return field(p.word, 19, 16) == 13;
}
unsigned rt(const Pair& p) {
    return field(p.word, 15, 12);
}

bool ours_is_none(const Pair& p) {
    return !p.ours.accesses_memory();
}

/// Both find the same access, but differ in writeback or PC.
bool only_pc_or_writeback(const Pair& p) {
    return p.ours.load == p.theirs.load && p.ours.store == p.theirs.store &&
           p.ours.size == p.theirs.size && p.ours.bytes == p.theirs.bytes;
}

// The texts name our side first: the decoder follows the manual.
constexpr Difference all[] = {
    {Where::both, "LDC and STC with P, U and W clear are UNDEFINED", "A5.6",
     [](const Pair& p) {
         return is_coprocessor(p) && (p.word & 0x01a0'0000) == 0 && ours_is_none(p);
     }},
    {Where::both, "LDC2 and STC2 of coprocessors 10 and 11 are UNDEFINED", "A7.6",
     [](const Pair& p) { return is_vfp(p) && field(p.word, 31, 28) == 0xf && ours_is_none(p); }},
    {Where::both, "LDC and STC, of which the disassembler knows those of other architectures",
     "A5.6", [](const Pair& p) { return is_coprocessor(p) && !is_vfp(p) && p.ours.bytes == 0; }},
    {Where::both, "some alignments of structures are UNDEFINED", "A8.8.320 to A8.8.330",
     [](const Pair& p) { return is_multiple(p) && is_set(p.word, 5) && ours_is_none(p); }},
    {Where::both, "structures of 64-bit elements are UNDEFINED", "A8.8.323 to A8.8.330",
     [](const Pair& p) { return is_multiple(p) && field(p.word, 7, 6) == 3 && ours_is_none(p); }},
    {Where::both, "stores of all lanes are UNDEFINED", "A7.7",
     [](const Pair& p) { return is_all_lanes(p) && !is_set(p.word, 21) && ours_is_none(p); }},
    {Where::both, "loads to all lanes of 64 bits, or aligned without need, are UNDEFINED",
     "A8.8.322 to A8.8.331",
     [](const Pair& p) { return is_all_lanes(p) && is_set(p.word, 21) && ours_is_none(p); }},
    {Where::arm, "LDRH and its like with bits 11:8 set, which should be 0, are UNPREDICTABLE",
     "A8.8.82",
     [](const Pair& p) {
         return is_arm_extra(p) && !is_set(p.word, 22) && field(p.word, 11, 8) != 0 &&
                !p.theirs.accesses_memory();
     }},
    {Where::arm, "an offset that is also the moved register is UNPREDICTABLE only for LDRD",
     "A8.8.82",
     [](const Pair& p) {
         return is_arm_extra(p) && p.theirs.unpredictable && field(p.word, 3, 0) == rt(p) &&
                p.ours.bytes == p.theirs.bytes;
     }},
    {Where::arm, "literal loads with W set are UNPREDICTABLE", "A8.8.81",
     [](const Pair& p) {
         return is_arm_extra(p) && base_is_pc(p) && is_set(p.word, 21) && only_pc_or_writeback(p);
     }},
    {Where::thumb, "LDRD and STRD that write back an offset of 0 are printed as if they did not",
     "A8.8.72",
     [](const Pair& p) {
         return is_thumb_dual(p) && field(p.word, 7, 0) == 0 && only_pc_or_writeback(p);
     }},
    {Where::thumb, "register offsets with bits 10:6 set are UNDEFINED", "A6.3.7 to A6.3.10",
     [](const Pair& p) {
         return is_thumb_single(p) && !is_set(p.word, 23) && !is_set(p.word, 11) &&
                field(p.word, 10, 6) != 0 && ours_is_none(p);
     }},
    {Where::thumb, "offsets of 8 bits with P and W clear are UNDEFINED", "A6.3.7 to A6.3.10",
     [](const Pair& p) {
         return is_thumb_single(p) && !is_set(p.word, 23) && (p.word & 0xd00) == 0x800 &&
                ours_is_none(p);
     }},
    {Where::thumb, "stores relative to PC are UNDEFINED", "A8.8.204 to A8.8.218",
     [](const Pair& p) {
         return is_thumb_single(p) && base_is_pc(p) && !is_set(p.word, 20) && ours_is_none(p);
     }},
    {Where::thumb, "loads of a signed halfword to PC are hints", "A6.3.8",
     [](const Pair& p) {
         return is_thumb_single(p) && rt(p) == 15 && field(p.word, 24, 24) == 1 &&
                field(p.word, 22, 20) == 3 && ours_is_none(p);
     }},
    {Where::thumb, "LDRB, LDRBT and their like to PC are UNPREDICTABLE, not PLD", "A6.3.8, A6.3.9",
     [](const Pair& p) {
         return is_thumb_single(p) && rt(p) == 15 && p.ours.load && !p.theirs.accesses_memory();
     }},
    {Where::thumb, "LDM from PC is UNPREDICTABLE; CLRM is of another profile", "A8.8.57",
     [](const Pair& p) {
         return p.set == Set::thumb32 && field(p.word, 31, 16) == 0xe89f &&
                !p.theirs.accesses_memory();
     }},
    {Where::thumb, "STREX of PC is UNPREDICTABLE; TT is of another profile", "A8.8.212",
     [](const Pair& p) {
         return is_thumb_dual(p) && field(p.word, 31, 20) == 0xe84 && !p.theirs.accesses_memory();
     }},
    {Where::thumb, "LDRD relative to PC with writeback is UNPREDICTABLE; SG is of another profile",
     "A8.8.73",
     [](const Pair& p) {
         return p.set == Set::thumb32 && p.word == 0xe97fe97f && !p.theirs.accesses_memory();
     }},
    {Where::thumb, "SRS of another register than SP is UNPREDICTABLE", "B9.3.15",
     [](const Pair& p) {
         return p.set == Set::thumb32 && field(p.word, 31, 25) == 0x74 && !base_is_sp(p) &&
                ours_is_none(p);
     }},
};

} // namespace

bool same(const Facts& ours, const Facts& theirs) {
    if (ours.length != theirs.length || ours.load != theirs.load || ours.store != theirs.store)
        return false;
    if (!ours.accesses_memory()) return true;
    // tests/unit/arch/unpredictable_test.cpp says what is left open; the disassembler knows a part.
    if (ours.unpredictable) return true;
    if (theirs.unpredictable && !ours.loads_pc) return false;
    return ours.size == theirs.size && ours.bytes == theirs.bytes &&
           ours.loads_pc == theirs.loads_pc && ours.writeback == theirs.writeback;
}

std::span<const Difference> listed_differences() {
    return all;
}

bool belongs_to(const Difference& difference, Set set) {
    if (set == Set::thumb16) return false;
    return difference.where == Where::both ||
           difference.where == (set == Set::arm ? Where::arm : Where::thumb);
}

} // namespace mmioscope::decoder_test
