// The description of a CTF trace (Common Trace Format 1.8, in TSDL): its packets, clock and events.
#pragma once

#include "file/trace_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::exporting {

/// Ids of events: types of records, and of accesses the stores. What is newer than this program has
/// one id for all.
inline constexpr std::uint8_t ctf_write = 64;
inline constexpr std::uint8_t ctf_unknown = 65;

/// What each packet begins with: the magic number and, if it is known, the boot's id as UUID.
std::vector<std::byte> ctf_packet_header(const trace::TraceReader& reader);

std::string ctf_metadata(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
