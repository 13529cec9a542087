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

/// Nothing if the description does not hold together.
std::optional<StreamHead> read_description(std::span<const std::uint8_t> bytes);

/// A device tree that holds the aliases and nothing else: what a trace file needs for its names.
std::vector<std::byte> alias_tree(const StreamHead& head);

/// Puts a description together from its pieces, in whatever order they come.
class DescriptionPieces {
public:
    /// One hello frame's payload. True if the description is whole now: see bytes().
    bool add(std::span<const std::uint8_t> payload);
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    void clear();

private:
    std::vector<std::uint8_t> bytes_;
    std::vector<bool> here_;
};

} // namespace mmioscope::wire
