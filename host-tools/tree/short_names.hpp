// Names for a narrow column: what a person would call the devices of one board.
#pragma once

#include "abi/ring.hpp"
#include "tree/device_names.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::tree {

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
