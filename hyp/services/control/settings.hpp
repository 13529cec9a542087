// Filters, sampling, triggers and policy.
#pragma once

#include "abi/control.hpp"
#include "choice/choice.hpp"

namespace mmioscope {

struct Machine;

/// Whether this machine can have the setting: Status::done, or why not.
abi::control::Status setting_possible(const Machine& machine, const abi::control::Request& request);
/// Changes the setting. The caller makes sure that no access is in flight.
void change_setting(Machine& machine, Choice& choice, const abi::control::Request& request);

} // namespace mmioscope
