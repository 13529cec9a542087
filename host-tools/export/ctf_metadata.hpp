// The description of a CTF trace (Common Trace Format 1.8, in TSDL): its packets, clock and events.
#pragma once

#include "file/trace_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::exporting {

/// Event ids: those of record types, and of accesses that store. All types newer than this program
/// share one id.
inline constexpr std::uint8_t ctf_write = 64;
inline constexpr std::uint8_t ctf_unknown = 65;

/// The start of each packet: the magic number and, if known, the boot's id as UUID.
std::vector<std::byte> ctf_packet_header(const trace::TraceReader& reader);

std::string ctf_metadata(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
