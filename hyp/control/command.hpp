// Carries out requests, from whichever way they come.
#pragma once

#include "abi/control.hpp"
#include "machine/cpu.hpp"

#include <optional>

namespace mmioscope {

/// When a request comes. Before the guest's first instruction no access is in flight, and only this
/// CPU has translations.
enum class Moment : std::uint8_t { before_first_instruction, runs };

/// Carries `request` out and returns the reply. Returns nothing if other CPUs are in the way:
/// nothing has changed, ask again. The caller holds no region lock and has no step armed. `request`
/// may contain anything: what cannot be carried out is refused with a reason, and changes nothing.
std::optional<abi::control::Reply> execute(Cpu& cpu, const abi::control::Request& request,
                                           Moment moment = Moment::runs);

/// execute() while the guest runs, then a check of the checksums; not after a request that was
/// refused, nor after a marker, which shows when something happens and must be quick.
std::optional<abi::control::Reply> serve(Cpu& cpu, const abi::control::Request& request);

} // namespace mmioscope
