// A checked view of the trace area (abi/ring.hpp) that a hypervisor is filling.
#pragma once

#include "abi/container.hpp"
#include "abi/ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::rings {

/// One CPU's ring in the area.
struct Ring {
    abi::RingHeader* header;
    const abi::Record* records;
    std::uint64_t capacity; ///< as it was when checked: the shared one may change; so below
    std::uint32_t boot_number;
};

/// Differs from boot to boot.
using BootId = std::array<std::uint8_t, 16>;

class Area {
public:
    /// True once the hypervisor has filled in everything a reader needs.
    static bool ready(std::span<const std::byte> memory);

    /// Of the boot whose area is in `memory`; nothing while none is ready.
    static std::optional<BootId> boot_in(std::span<const std::byte> memory);

    /// A view of `memory`, which stays the caller's and must be 64-byte aligned. Throws
    /// Error (failed) if what it says does not hold together or has a newer major version.
    explicit Area(std::span<std::byte> memory);

    const abi::AreaHeader& header() const { return header_; } ///< a copy, checked
    const std::vector<abi::RegionEntry>& regions() const { return regions_; }
    const std::vector<Ring>& rings() const { return rings_; }
    std::vector<abi::Statistics> statistics() const;
    abi::Info info() const;

private:
    void check_header(std::size_t size) const;
    void read_regions(std::span<const std::byte> memory);
    void add_ring(std::span<std::byte> memory, unsigned cpu);

    abi::AreaHeader header_;
    std::vector<abi::RegionEntry> regions_;
    std::vector<Ring> rings_;
};

} // namespace mmioscope::rings
