// Makes a trace from records in memory, so that they get filters and names like those of any trace.
#pragma once

#include "abi/record.hpp"
#include "rings/area.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::rings {

/// A file in memory, positioned at its start, with the description of `area`, from which the
/// records come, and the device tree of its boot (empty: unknown).
FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records);

} // namespace mmioscope::rings
