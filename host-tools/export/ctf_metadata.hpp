// The description of a CTF trace (Common Trace Format 1.8, in TSDL): its packets, clock and events.
#pragma once

#include "lib/trace_reader.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace mmioscope::exporting {

/// What a packet begins with.
inline constexpr std::uint32_t ctf_magic = 0xc1fc1fc1;
using Uuid = std::array<std::uint8_t, 16>;

/// Ids of events: types of records, and of accesses the stores. What is newer than this program has
/// one id for all.
inline constexpr std::uint8_t ctf_write = 64;
inline constexpr std::uint8_t ctf_unknown = 65;

/// Of the trace's boot.
Uuid ctf_uuid(const trace::TraceReader& reader);

std::string ctf_metadata(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
