// Removes from a record what says where the guest's code is, for clean-room work.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::reading {

/// Texts of a trace in which somebody may have written addresses of code: `--symbols FILE@ADDRESS`,
/// `filter pc ...`.
inline constexpr const char* texts_with_code[] = {"recorded-by", "at-start"};

/// `record` without code: pc, lr, sp, the virtual address; the entry of a CPU that was started; the
/// address of a fetch; the range of a filter by PC. Values that the guest exchanged with a device,
/// and its tasks, stay.
void strip_code(abi::Record& record);

/// A change whose value is a range of code.
bool names_pcs(const abi::Record& record);

} // namespace mmioscope::reading
