// Carrying out a request, whatever way it came in.
#pragma once

#include "abi/control.hpp"
#include "machine/cpu.hpp"

#include <optional>

namespace mmioscope {

/// Of the guest's. Before it, no access is in flight, and this CPU alone has translations.
enum class Moment : std::uint8_t { before_first_instruction, runs };

/// The reply; nothing if other CPUs' accesses are in the way: nothing has changed, ask again. On a
/// CPU that holds no region lock and has no step armed. Whatever the request's bytes are: what
/// cannot be carried out is refused with a reason, and then nothing has changed.
std::optional<abi::control::Reply> execute(Cpu& cpu, const abi::control::Request& request,
                                           Moment moment = Moment::runs);

/// The same for the guest that runs, and then a look at the checksums, if it was carried out and is
/// no marker: those tell when something happens, and take no time.
std::optional<abi::control::Reply> serve(Cpu& cpu, const abi::control::Request& request);

} // namespace mmioscope
