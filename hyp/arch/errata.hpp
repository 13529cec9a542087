// Errata of real cores that change what the hypervisor may rely on, by MIDR (ARM ARM B4.1.105).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

/// Cortex-A15 r0p4, erratum 766422: HSR.SRT may name another register than a Thumb store's.
constexpr bool mistakes_thumb_stores(std::uint32_t midr) {
    constexpr std::uint32_t cortex_a15_r0p4 = 0x410f'c0f4;
    return midr == cortex_a15_r0p4;
}

} // namespace mmioscope::arch
