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
    std::uint64_t capacity; ///< checked; the shared value may change; also below
    std::uint32_t boot_number;
    std::uint64_t address; ///< physical, of the first record
};

/// Different for each boot.
using BootId = std::array<std::uint8_t, 16>;

class Area {
public:
    /// True once the hypervisor has filled in everything a reader needs.
    static bool ready(std::span<const std::byte> memory);

    /// The boot whose area is in `memory`; nothing if no area is ready.
    static std::optional<BootId> boot_in(std::span<const std::byte> memory);

    /// A view of `memory`, which belongs to the caller and must be 64-byte aligned. Throws Error
    /// (failed) if its content is inconsistent or has a newer major version.
    explicit Area(std::span<std::byte> memory);

    const abi::AreaHeader& header() const { return header_; } ///< a checked copy
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
