// A boot found in memory, and the text about it as a whole.
#pragma once

#include "rings/area.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::view {

struct KnownBoot {
    const rings::Area& area;
    std::span<const std::byte> tree; ///< its machine's device tree; empty: unknown
    std::string_view which;          ///< "previous boot", ...
};

/// "previous boot, id ..., BOARD, N CPUs", whether the hypervisor had stopped, and why nothing was
/// kept of the boot before; with line end.
std::string boot_line(const KnownBoot& boot);

/// The same as one line with a JSON object of type "boot".
std::string boot_json(const KnownBoot& boot);

} // namespace mmioscope::view
