// Names for a narrow column: what a person would call the devices of one board.
#pragma once

#include "abi/ring.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::tree {

/// Of each region, all different: the alias of its node or the node's name without its address
/// ("serial0", "mmc"), with the address where two nodes have that name ("timer@110000"), and behind
/// it which entry of `reg` it is ("gic.cpu", "flash[1]").
std::vector<std::string> short_names(std::span<const abi::RegionEntry> regions,
                                     std::span<const std::byte> tree);

} // namespace mmioscope::tree
