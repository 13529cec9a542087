// What a `configuration` or `marker` record tells (abi/control.hpp), in the words of `mmioscope
// ctl`.
#pragma once

#include "abi/record.hpp"

#include <string>

namespace mmioscope::trace {

/// "select 0x1c050000+0x1000", "filter value 0x4/0xff", "trigger fired", ...; without the device of
/// Record::device.
std::string change_text(const abi::Record& record);

/// The number, or the text in quotes: eight characters of it at most; unprintable ones as "\\x..".
std::string marker_text(const abi::Record& record);

} // namespace mmioscope::trace
