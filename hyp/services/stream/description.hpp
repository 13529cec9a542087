// Makes the stream's description (abi/wire.hpp, Description).
#pragma once

#include "abi/description_codec.hpp"
#include "abi/wire.hpp"

namespace mmioscope {

class DescriptionWriter {
public:
    /// Bytes; enough for the most regions that abi/ring.hpp allows, and aliases.
    static constexpr std::size_t room = 48 * 1024;

    /// Describes `area`, whose header and regions are complete. pack() ends it.
    void start(const abi::AreaHeader& area, unsigned time_shift);
    /// Adds an entry of /aliases, if there is room; names are only a convenience.
    void add_alias(const char* name, const char* path);

    /// Makes of it the bytes that are sent, of which there are size(). Once, when all is added.
    void pack();
    std::size_t size() const { return packed_size_; }

    /// The number of hellos that it takes; at least one.
    unsigned pieces() const {
        return static_cast<unsigned>((packed_size_ + abi::max_piece - 1) / abi::max_piece);
    }
    /// Writes the payload of hello number `piece` to `to`; returns its size in bytes.
    std::size_t write_piece(unsigned piece, std::uint8_t* to) const;

private:
    void add(const void* bytes, std::size_t size);
    void add_region(const abi::RegionEntry& region, const char* before);

    std::uint8_t text_[room]{};
    std::size_t size_{};
    abi::TextModel model_{};
    std::uint8_t packed_[sizeof(std::uint32_t) + room]{};
    std::size_t packed_size_{};
};
static_assert(DescriptionWriter::room <= abi::max_description);
static_assert(DescriptionWriter::room >=
              sizeof(abi::Description) +
                  abi::max_regions * (sizeof(abi::StreamRegion) + abi::path_size));

} // namespace mmioscope
