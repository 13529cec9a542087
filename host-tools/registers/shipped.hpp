// The description files of host-tools/devices/, as they were at build time.
#pragma once

#include <span>
#include <string_view>

namespace mmioscope::registers {

struct ShippedFile {
    std::string_view name;
    std::string_view text;
};

std::span<const ShippedFile> shipped_files();

} // namespace mmioscope::registers
