// Puts together what a boot kept of the previous one from its stream (abi/wire.hpp): a small trace
// area (abi/ring.hpp), as the hypervisor has it in memory.
#pragma once

#include "wire/stream_head.hpp"

#include <span>
#include <vector>

namespace mmioscope::wire {

/// Bytes of an area, as aligned as in memory.
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
    /// The payloads of the frames, and records out of them. False if they make no sense.
    bool add_hello(std::span<const std::uint8_t> payload);
    void add_records(std::span<const abi::Record> records);
    bool add_end(std::span<const std::uint8_t> payload);

    /// The description has come, and the end.
    bool whole() const { return head_ && !cpus_.empty(); }

    /// Once it is whole. Records of frames that were lost are missing in it, and their slots empty.
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
