// What to say of a stream that has no end.
#pragma once

#include <string>
#include <string_view>

namespace mmioscope::wire {

/// Whether the last line of `console`, the guest's, is Linux' before it halts or turns the power
/// off. A single CPU loops there with its interrupts masked, and the hypervisor never runs again.
bool says_halted(std::string_view console);

/// Why the trace of such a stream may be incomplete. `console`: the end of the guest's console, as
/// far as it is known.
std::string no_end(std::string_view console);

} // namespace mmioscope::wire
