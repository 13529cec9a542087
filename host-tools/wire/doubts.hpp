// What is wrong with a stream as a whole.
#pragma once

#include "wire/wire_decoder.hpp"

#include <string>
#include <string_view>

namespace mmioscope::wire {

/// Why the trace of a stream that has an end may be incomplete although no record is known to be
/// lost; empty if there is no reason.
std::string doubts(const WireDecoder& decoder);

/// The counts, as lines of a trace's text.
std::string text_of(const WireCounts& counts);

// What to say of a stream that has no end.

/// Whether the last line of `console`, the guest's, is Linux' before it halts or turns the power
/// off. A single CPU loops there with its interrupts masked, and the hypervisor never runs again.
bool says_halted(std::string_view console);

/// Why the trace of such a stream may be incomplete. `console`: the end of the guest's console, as
/// far as it is known.
std::string no_end(std::string_view console);

} // namespace mmioscope::wire
