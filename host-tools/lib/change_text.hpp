// What a `configuration` record tells (abi/control.hpp), in the words of `mmioscope ctl`.
#pragma once

#include "abi/record.hpp"

#include <string>

namespace mmioscope::trace {

/// "select 0x1c050000+0x1000", "filter value 0x4/0xff", "trigger fired", ...; without the device of
/// Record::device.
std::string change_text(const abi::Record& record);

} // namespace mmioscope::trace
