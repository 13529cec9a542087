// The description files of host-tools/devices/, as they were at build time.
#pragma once

#include <span>
#include <string_view>

namespace mmioscope::registers {

struct ShippedDevice {
    std::string_view file;
    unsigned line;         ///< of its first line in that file
    std::string_view head; ///< its lines that RegisterBook::find() and inclusions use
    std::string_view text; ///< all its lines
};

std::span<const ShippedDevice> shipped_devices();

} // namespace mmioscope::registers
