// Accesses that CPUs had begun when the recording ended, and that have no record. Recorders find
// them in the rings, or a stream's end has them, and write them to the trace's text:
//
//   in-flight.cpuN=pa ADDRESS pc ADDRESS time TICKS
//
// Whether the trace is complete in spite of them is decided here; the recorder writes that, too, as
// "incomplete" (file/texts.hpp), for all commands.
#pragma once

#include "abi/container.hpp"
#include "abi/wire.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

using abi::UnfinishedAccess;

/// One line for each, for the trace's text.
std::string lines_of(std::span<const UnfinishedAccess> accesses);

/// The access that the text `key`=`value` tells of; nothing if it is about something else.
std::optional<UnfinishedAccess> unfinished_access(std::string_view key, std::string_view value);

/// All of a trace's text.
std::vector<UnfinishedAccess> unfinished_accesses(const std::map<std::string, std::string>& text);

/// Why a trace that ended like this is not complete: "cpu 2 was in the middle of an access to
/// 0x080004a0"; behind "the hypervisor stopped", if that was the ending. Empty if there is no such
/// access, if it could have been finished behind the end of the recording, which was cut while the
/// machine ran on, or if the ending is a reason by itself.
std::string why_unfinished(std::span<const UnfinishedAccess> accesses,
                           std::optional<abi::Ending> ending);

} // namespace mmioscope::trace
