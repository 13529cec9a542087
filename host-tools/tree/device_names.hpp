// Short, distinct names for the devices of a trace.
#pragma once

#include "abi/ring.hpp"
#include "tree/device_tree.hpp"

#include <cstddef>
#include <cstdint>
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

/// `path`, as region_path() has it, is `full`, or as much of its end as is known.
bool same_path(std::string_view path, std::string_view full);

/// Which of `aliases` are of the device at `path`.
std::vector<std::string> aliases_of(std::string_view path, const Aliases& aliases);

/// All that a user may call the device at `path`: the path, its aliases, each end of the path
/// behind a "/", and its node's name without the address. Others may have the last two as well.
std::vector<std::string> names_of(std::string_view path, const Aliases& aliases);

/// Which of `paths` the user's `name` stands for: the one it is, the one that it is an alias of,
/// else all that have it among their names.
std::vector<std::string_view> paths_called(std::string_view name, const Aliases& aliases,
                                           const std::set<std::string_view>& paths);

/// Each byte of them is the same.
bool same_regions(std::span<const abi::RegionEntry> left, std::span<const abi::RegionEntry> right);

/// The path of a region; one that was too long begins with "~".
std::string_view region_path(const abi::RegionEntry& region);

} // namespace mmioscope::tree
