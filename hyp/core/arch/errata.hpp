// Errata of real cores that affect the hypervisor, by MIDR (ARM ARM B4.1.105).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

/// Cortex-A15 r0p4, erratum 766422: HSR.SRT may name another register than a Thumb store's.
constexpr bool mistakes_thumb_stores(std::uint32_t midr) {
    constexpr std::uint32_t cortex_a15_r0p4 = 0x410f'c0f4;
    return midr == cortex_a15_r0p4;
}

/// Cortex-A15 r0p0 to r3p2, erratum 798181: another CPU may still use a translation after the DSB
/// that follows a broadcast TLBI. REVIDR bits 4 and 9 say that the core has both parts of the fix.
constexpr bool broadcast_tlbi_fails(std::uint32_t midr, std::uint32_t revidr) {
    constexpr std::uint32_t any_revision = 0x00f0'000f;
    constexpr std::uint32_t cortex_a15_r0p0 = 0x410f'c0f0;
    constexpr std::uint32_t cortex_a15_r3p2 = 0x413f'c0f2;
    constexpr std::uint32_t fixed = 1u << 4 | 1u << 9;
    return (midr & ~any_revision) == cortex_a15_r0p0 && midr <= cortex_a15_r3p2 &&
           (revidr & fixed) != fixed;
}

} // namespace mmioscope::arch
