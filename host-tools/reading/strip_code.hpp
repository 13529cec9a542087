// Takes out of an event what tells where the guest's code is, for work that must not know.
#pragma once

#include "mmioscope/event.hpp"

namespace mmioscope::reading {

/// Texts of a trace in which somebody may have written addresses of code: `--symbols FILE@ADDRESS`,
/// `filter pc ...`.
inline constexpr const char* texts_with_code[] = {"recorded-by", "at-start"};

/// `event` without code: pc, lr, sp, the virtual address, functions and callers; the entry of a CPU
/// that was started; the address of a fetch; the range of a filter by PC. Its record becomes
/// `copy`, which outlives it. Values that the guest exchanged with a device, and its tasks, stay.
void strip_code(Event& event, abi::Record& copy);

} // namespace mmioscope::reading
