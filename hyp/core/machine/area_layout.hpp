// Where the rings and the previous boot's records lie in a trace area. All of it follows from the
// size.
#pragma once

#include "abi/ring.hpp"
#include "base/address.hpp"

namespace mmioscope {

/// Size of a ring with `capacity` records, in bytes.
constexpr std::uint64_t ring_bytes(std::uint64_t capacity) {
    return sizeof(abi::RingHeader) + capacity * sizeof(abi::Record);
}

/// Size of the smallest trace area for `cpus` CPUs, in bytes.
constexpr std::uint64_t smallest_area(unsigned cpus) {
    return abi::area_head_size + cpus * ring_bytes(abi::min_capacity);
}

struct AreaLayout {
    std::uint64_t share;       ///< bytes per ring, with its header
    std::uint64_t kept_offset; ///< 0: the area is too small to keep a previous boot
    std::uint64_t kept_size;   ///< bytes: smallest_area()

    /// `size`: bytes, at least smallest_area(cpus).
    constexpr AreaLayout(std::uint64_t size, unsigned cpus)
        : share(0), kept_offset(0), kept_size(0) {
        static_assert(abi::kept_records == abi::min_capacity);
        if (size >= 2 * smallest_area(cpus)) {
            kept_size = smallest_area(cpus);
            kept_offset = page_floor(size - kept_size);
            size = kept_offset;
        }
        share = page_floor((size - abi::area_head_size) / cpus);
    }

    constexpr std::uint64_t ring_offset(unsigned cpu) const {
        return abi::area_head_size + cpu * share;
    }
    constexpr std::uint64_t capacity() const {
        const std::uint64_t records = (share - sizeof(abi::RingHeader)) / sizeof(abi::Record);
        // So that the writer also looks at its readers at the ring's end.
        return records - records % abi::reserve_batch;
    }
};

} // namespace mmioscope
