// Filters, sampling and policy: what becomes of the records.
#pragma once

#include "abi/control.hpp"

namespace mmioscope {

struct Machine;

/// Whether the arguments make sense.
bool setting_well_formed(const abi::control::Request& request);
/// Whether it can be had on this machine.
abi::control::Status setting_possible(const Machine& machine, const abi::control::Request& request);
/// While no access is in flight.
void change_setting(Machine& machine, const abi::control::Request& request);

} // namespace mmioscope
