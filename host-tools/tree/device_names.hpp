// Short names for the devices of a trace, told apart from one another.
#pragma once

#include "abi/ring.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::tree {

class DeviceNames {
public:
    DeviceNames() = default;

    /// Names the `regions`: the alias `tree` has for the node, else as much of the end of its
    /// path as tells it apart; "[n]" behind it for the entries of `reg` after the first. What is no
    /// printable ASCII in it is a '?'.
    DeviceNames(std::span<const abi::RegionEntry> regions, std::span<const std::byte> tree);

    /// The name of region `device`; "-" for abi::no_device and unknown ones.
    std::string_view operator[](std::uint16_t device) const;

    /// Where region `device` begins; 0 for abi::no_device and unknown ones.
    std::uint64_t base(std::uint16_t device) const;

    /// Characters of the longest name.
    std::size_t width() const { return width_; }

private:
    std::vector<std::string> names_;
    std::vector<std::uint64_t> bases_;
    std::size_t width_ = 12;
};

/// Which of `paths` the user's `name` stands for: the one it is, the one that it is an alias of,
/// else all that end in it behind a "/". Paths may be cut, as region_path() has them.
std::vector<std::string_view> paths_called(std::string_view name,
                                           const std::map<std::string, std::string>& aliases,
                                           const std::set<std::string_view>& paths);

/// Each byte of them is the same.
bool same_regions(std::span<const abi::RegionEntry> left, std::span<const abi::RegionEntry> right);

/// The path of a region; one that was too long begins with "~".
std::string_view region_path(const abi::RegionEntry& region);

} // namespace mmioscope::tree
