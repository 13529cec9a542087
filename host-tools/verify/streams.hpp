// Divides lines and events into streams that must agree item by item: one for each CPU, and,
// since QEMU names no CPU for accesses that reach no device model, one for each device there.
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

/// Indices of lines and events, each in the order of its side. An event that cannot be at its place
/// according to its cpu_sequence is moved to where it belongs.
struct Stream {
    std::vector<std::uint32_t> lines;
    std::vector<std::uint32_t> events;
};

/// Each line is in exactly one stream, and each event in at most one: an event whose cpu_sequence
/// has no place among its CPU's is in none, and left to name_leftovers(). Makes the addresses of
/// rejected lines, which are offsets in the log, absolute.
std::vector<Stream> divide(std::vector<importing::Line>& lines,
                           std::span<const importing::Event> events,
                           std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
