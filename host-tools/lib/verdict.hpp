// Whether a trace is all there.
#pragma once

#include "abi/container.hpp"
#include "lib/error.hpp"
#include "lib/summary.hpp"

#include <span>
#include <string>

namespace mmioscope::trace {

/// The one line that says whether the trace is all there. Events are the guest's accesses. Readers
/// print it last, behind the line of Summary::policies().
/// `why_incomplete`: another reason than losses, or empty.
std::string verdict(const Summary& summary, std::span<const abi::Loss> losses,
                    const std::string& why_incomplete);

/// What a command that recorded returns.
Status status_of(abi::Ending ending, bool complete);

} // namespace mmioscope::trace
