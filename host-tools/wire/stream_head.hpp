// The description at the start of a stream (abi/wire.hpp, `hello`): everything that its records
// need for names.
#pragma once

#include "abi/wire.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::wire {

struct StreamHead {
    abi::Info info;
    std::uint64_t area_base;
    std::uint64_t area_size;
    unsigned time_shift; ///< times are multiples of 2^time_shift ticks
    std::vector<abi::RegionEntry> regions;
    std::map<std::string, std::string> aliases; ///< name to path
};

/// Nothing if the description, as it is sent, is inconsistent.
std::optional<StreamHead> read_description(std::span<const std::uint8_t> bytes);

/// A device tree with only the aliases, which a trace file needs for its names.
std::vector<std::byte> alias_tree(const StreamHead& head);

/// Reassembles a description from its pieces, in any order.
class DescriptionPieces {
public:
    /// Adds one hello frame's payload. Returns true if the description is complete: see bytes().
    bool add(std::span<const std::uint8_t> payload);
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    void clear();

private:
    std::vector<std::uint8_t> bytes_;
    std::vector<bool> here_;
};

} // namespace mmioscope::wire
