// The checksum that tells an area left by an earlier boot from damage and from random bytes.
#pragma once

#include "abi/ring.hpp"

namespace mmioscope::abi {

/// CRC-32 (IEEE 802.3) of what describes an area: the header and its `region_count` regions,
/// without what may change while it is in use (`magic`, `state`, `policy`, the regions' flags).
/// `crc(bytes, size, before)` continues the CRC `before`, which is 0 at the start.
template <class Crc>
std::uint32_t description_crc(AreaHeader header, const RegionEntry* regions, Crc&& crc) {
    header.magic = 0;
    header.state = AreaState::starting;
    header.policy = Policy::drop;
    header.description_crc = 0;
    std::uint32_t sum = crc(&header, sizeof header, 0u);
    for (std::uint32_t i = 0; i < header.region_count; ++i) {
        RegionEntry region = regions[i];
        region.flags = 0;
        region.reserved = 0;
        sum = crc(&region, sizeof region, sum);
    }
    return sum;
}

} // namespace mmioscope::abi
