// What a probed instruction does, as far as it concerns a step. ARM state.
#pragma once

#include "entry/frame.hpp"

#include <cstdint>
#include <optional>

namespace mmioscope {

struct Cpu;

/// HVC (A8.8.68); its immediate is in bits 19:8 and 3:0.
constexpr std::uint32_t hvc(std::uint32_t immediate) {
    return 0xe140'0070 | (immediate & 0xfff0) << 4 | (immediate & 0xf);
}
constexpr bool is_hvc(std::uint32_t word) {
    return (word & 0xfff0'00f0) == 0xe140'0070;
}
constexpr std::uint32_t immediate_of(std::uint32_t hvc) {
    return (hvc >> 4 & 0xfff0) | (hvc & 0xf);
}

/// The guest can execute it in a step, and the next one is behind it.
bool is_plain(std::uint32_t word);
/// Hyp carries it out, or the guest can execute it in a step. No exclusive: between the two Hyp
/// would clear the monitor.
bool can_be_probed(std::uint32_t word);

/// Hyp carries it out: it is a branch without a load; it computes from an immediate or registers;
/// or it reads TPIDRURO, as Linux does to find `current`: in a step, CP15 traps.
bool is_carried_out(std::uint32_t word);
/// Carries out `word` at PC. False: it needs a step.
bool carry_out(Frame& frame, std::uint32_t word);

/// Where the guest goes on behind `word` at PC, which needs a step. Empty: not known, or in Thumb
/// state.
std::optional<std::uint32_t> next_of(Cpu& cpu, const Frame& frame, std::uint32_t word);

} // namespace mmioscope
