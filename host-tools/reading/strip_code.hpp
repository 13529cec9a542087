// Removes from a record everything that shows where the guest's code is, for clean-room work.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::reading {

/// Texts of a trace in which the user may have written code addresses: `--symbols FILE@ADDRESS`,
/// `filter pc ...`.
inline constexpr const char* texts_with_code[] = {"recorded-by", "at-start"};

/// `record` without what trace::Kind::hide says of its type, and the range of a filter by PC. Keeps
/// the guest's tasks, and the values that it exchanged with devices.
void strip_code(abi::Record& record);

/// Whether it is a change whose value is a range of code.
bool names_pcs(const abi::Record& record);

} // namespace mmioscope::reading
