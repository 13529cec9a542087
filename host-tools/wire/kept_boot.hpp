// Reassembles from a boot's stream (abi/wire.hpp) what it kept of the previous boot: a small trace
// area (abi/ring.hpp), as in the hypervisor's memory.
#pragma once

#include "wire/stream_head.hpp"

#include <span>
#include <vector>

namespace mmioscope::wire {

/// The bytes of an area, aligned as in memory.
class AreaImage {
public:
    explicit AreaImage(std::size_t size);
    /// A copy of `bytes`.
    explicit AreaImage(std::span<const std::byte> bytes);

    std::span<std::byte> bytes() { return {pages_.data()->bytes, size_}; }
    std::span<const std::byte> bytes() const { return {pages_.data()->bytes, size_}; }

private:
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::vector<Page> pages_;
    std::size_t size_;
};

class KeptBoot {
public:
    /// Take the payloads of frames, and records from them. False if they are invalid.
    bool add_hello(std::span<const std::uint8_t> payload);
    void add_records(std::span<const abi::Record> records);
    bool add_end(std::span<const std::uint8_t> payload);

    /// Whether the description and the end have arrived, and fit each other.
    bool whole() const { return head_ && !cpus_.empty() && head_->info.cpu_count == cpus_.size(); }

    /// Call it once whole. Records of lost frames are missing, and their slots are empty.
    AreaImage area() const;

private:
    abi::AreaHeader header() const;
    void place_ring(AreaImage& image, const abi::AreaHeader& header, unsigned cpu) const;

    DescriptionPieces pieces_;
    std::optional<StreamHead> head_;
    std::vector<abi::Record> records_;
    abi::KeptEnd end_{};
    std::vector<abi::KeptCpu> cpus_;
};

} // namespace mmioscope::wire
