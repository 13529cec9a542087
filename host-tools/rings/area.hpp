// A checked view of the trace area (abi/ring.hpp) that a hypervisor is filling.
#pragma once

#include "abi/container.hpp"
#include "abi/ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
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

// Takes records from one ring while a CPU writes to it.

/// What a CPU is doing at this moment.
struct InFlightAccess {
    abi::InFlight state;
    std::uint32_t pc;   ///< this and what follows: only if an access has begun
    std::uint64_t time; ///< CNTPCT
    std::uint64_t pa;

    bool operator==(const InFlightAccess&) const = default;
};

/// What the CPU of `ring` is doing. If it has gone on during the call, that is `beginning`.
InFlightAccess in_flight(const Ring& ring);

class RingReader {
public:
    /// Reads `ring` as reader number `reader`: if the writer waits for that reader, from its
    /// position, otherwise from the next record published. With Policy::flight the writer does not
    /// wait for readers: overwritten records are left out, and show as a hole in cpu_sequence.
    RingReader(const Ring& ring, abi::Policy policy, unsigned reader);

    /// The writer no longer waits for this reader.
    void leave();

    /// From now on takes only records published before this call.
    void stop();
    /// After stop(): the cpu_sequence that follows the last record to take.
    std::uint32_t next_sequence() const { return next_sequence_; }

    /// Time of the record before the first one read; 0 if there is none.
    std::uint64_t time_before() const { return time_before_; }

    /// Call it before drain(): whatever began before this moment is then below the head.
    InFlightAccess in_flight() const { return rings::in_flight(ring_); }

    /// Appends all published records to `out`, and returns their slots to the writer. Returns the
    /// number of damaged records: those that are not the ones expected in their slots.
    std::uint64_t drain(std::vector<abi::Record>& out);

    std::uint64_t lost() const; ///< records the writer has lost so far
    /// The writer's next cpu_sequence, and how many records before it were no accesses, modulo
    /// 2^32. If the CPU is running, they may be those of two moments.
    std::pair<std::uint32_t, std::uint32_t> numbered() const;

private:
    std::uint64_t load_head() const;
    void copy(std::uint64_t to, std::vector<abi::Record>& out) const;
    std::uint64_t drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const;
    std::uint64_t drop_damaged(std::vector<abi::Record>& out, std::size_t first,
                               std::uint64_t position) const;

    Ring ring_;
    abi::Reader* reader_;
    bool overwrites_;
    std::uint64_t tail_;
    std::uint64_t time_before_ = 0;
    std::uint64_t end_ = ~std::uint64_t{0}; ///< takes nothing from here on
    std::uint32_t next_sequence_ = 0;
};

} // namespace mmioscope::rings
