// What a stream says of itself, once for all (abi/wire.hpp, Description).
#pragma once

#include "abi/wire.hpp"

namespace mmioscope {

class DescriptionWriter {
public:
    /// Room for all that abi/ring.hpp allows, and aliases.
    static constexpr std::size_t room = 48 * 1024;

    /// Of `area`, whose header and regions are complete.
    void start(const abi::AreaHeader& area, unsigned time_shift);
    /// An entry of /aliases. What does not fit is left out: names are a convenience.
    void add_alias(const char* name, const char* path);

    const std::uint8_t* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }

    /// In how many pieces it is sent, one at least.
    unsigned pieces() const {
        return static_cast<unsigned>((size_ + abi::max_piece - 1) / abi::max_piece);
    }
    /// The payload of a hello with the `piece`th, to `to`. Returns its size.
    std::size_t write_piece(unsigned piece, std::uint8_t* to) const;

private:
    void add(const void* bytes, std::size_t size);
    void add_region(const abi::RegionEntry& region, const char* before);

    std::uint8_t bytes_[room]{};
    std::size_t size_{};
};
static_assert(DescriptionWriter::room <= abi::max_description);
static_assert(DescriptionWriter::room >=
              sizeof(abi::Description) +
                  abi::max_regions * (sizeof(abi::StreamRegion) + abi::path_size));

} // namespace mmioscope
