// Makes a trace of records in memory, so that they are filtered and named like those of any trace.
#pragma once

#include "abi/record.hpp"
#include "rings/area.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <span>

namespace mmioscope::blackbox {

/// A file in memory, read from its start, with the description of `area`, which these records are
/// of, and the device tree of its boot; empty: not known.
FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records);

} // namespace mmioscope::blackbox
