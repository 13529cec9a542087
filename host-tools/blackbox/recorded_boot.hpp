// The previous boot that a trace file or a stream contains in addition to its own.
#pragma once

#include "wire/kept_boot.hpp"

#include <optional>
#include <span>
#include <vector>

namespace mmioscope::blackbox {

struct RecordedBoot {
    wire::AreaImage area;        ///< not believed yet: see sound_area()
    std::vector<std::byte> tree; ///< for the devices' names
};

bool is_trace_file(std::span<const std::byte> bytes);

/// Of a whole trace file's bytes; nothing if it has none. Throws Error (bad_input) if it is of a
/// newer version.
std::optional<RecordedBoot> previous_boot_in_file(std::span<const std::byte> bytes);

/// Of a stream's bytes, the last one; nothing if there is none. Throws Error (bad_input) if it is
/// of a newer version.
std::optional<RecordedBoot> previous_boot_in_stream(std::span<const std::byte> bytes);

} // namespace mmioscope::blackbox
