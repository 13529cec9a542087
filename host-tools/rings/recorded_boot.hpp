// The previous boot that a trace file or a stream contains in addition to its own.
#pragma once

#include "abi/record.hpp"
#include "rings/area.hpp"
#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"
#include "wire/kept_boot.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::rings {

struct RecordedBoot {
    wire::AreaImage area;        ///< unchecked: see sound_area()
    std::vector<std::byte> tree; ///< for device names
};

bool is_trace_file(std::span<const std::byte> bytes);

/// The previous boot in a whole trace file. Nothing if it has none. Throws Error (bad_input) if it
/// has a newer version.
std::optional<RecordedBoot> previous_boot_in_file(std::span<const std::byte> bytes);

/// The last previous boot in a stream. Nothing if it has none. Throws Error (bad_input) if it has a
/// newer version. Calls `passed` as it searches.
std::optional<RecordedBoot> previous_boot_in_stream(
    std::span<const std::byte> bytes, const Passed& passed = [](std::size_t) {});

// Makes a trace from records in memory, so that they get filters and names like those of any trace.

/// A file in memory, positioned at its start, with the description of `area`, from which the
/// records come, and the device tree of its boot (empty: unknown).
FileDescriptor as_trace(const rings::Area& area, std::span<const std::byte> tree,
                        std::span<const abi::Record> records);

} // namespace mmioscope::rings
