// Short, distinct names for the devices of a trace.
#pragma once

#include "abi/ring.hpp"
#include "tree/device_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::tree {

class DeviceNames {
public:
    DeviceNames() = default;

    /// Names the `regions`: the node's alias in `tree`, otherwise the shortest unique end of its
    /// path; followed by "[n]" for the entries of `reg` after the first. '?' replaces everything
    /// but printable ASCII.
    DeviceNames(std::span<const abi::RegionEntry> regions, std::span<const std::byte> tree);

    /// The name of region `device`; "-" for abi::no_device and unknown ones.
    std::string_view operator[](std::uint16_t device) const;

    /// The start address of region `device`; 0 for abi::no_device and unknown ones.
    std::uint64_t base(std::uint16_t device) const;

    /// Length of the longest name in characters.
    std::size_t width() const { return width_; }

private:
    std::vector<std::string> names_;
    std::vector<std::uint64_t> bases_;
    std::size_t width_ = 12;
};

/// Whether `path`, from region_path(), is `full`, or its end if the start is unknown.
bool same_path(std::string_view path, std::string_view full);

/// The `aliases` of the device at `path`.
std::vector<std::string> aliases_of(std::string_view path, const Aliases& aliases);

/// All names that a user may use for the device at `path`: the path, its aliases, each end of the
/// path after a "/", and its node's name without the address. The last two may be ambiguous.
std::vector<std::string> names_of(std::string_view path, const Aliases& aliases);

/// Which of `paths` the user's `name` means: the path that it is, or the path that it is an alias
/// of, otherwise all paths that have it among their names.
std::vector<std::string_view> paths_called(std::string_view name, const Aliases& aliases,
                                           const std::set<std::string_view>& paths);

/// Whether they are equal byte by byte.
bool same_regions(std::span<const abi::RegionEntry> left, std::span<const abi::RegionEntry> right);

/// The path of a region; one that was too long begins with "~".
std::string_view region_path(const abi::RegionEntry& region);

/// The index of the guest's memory, of which pages are watched (run --watch); nothing: none are.
inline std::optional<std::uint32_t> guest_memory_in(std::span<const abi::RegionEntry> regions) {
    const auto found = std::ranges::find(regions, std::string_view(abi::memory_path), region_path);
    return found == regions.end() ? std::nullopt : std::optional(found - regions.begin());
}

// Names for a narrow column: what a person would call the devices of one board.

/// One distinct name for each region: the alias of its node, or the node's name without its address
/// ("serial0", "mmc"), with the address if two nodes have that name ("timer@110000"), followed by
/// the entry of `reg` ("gic.cpu", "flash[1]").
std::vector<std::string> short_names(std::span<const abi::RegionEntry> regions,
                                     std::span<const std::byte> tree);

/// Short names by the names in `whole`.
using ShortNames = std::map<std::string, std::string, std::less<>>;
ShortNames short_names(const DeviceNames& whole, std::span<const abi::RegionEntry> regions,
                       std::span<const std::byte> tree);

} // namespace mmioscope::tree
