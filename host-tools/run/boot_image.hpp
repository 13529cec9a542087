// The hypervisor as a U-Boot image (U-Boot's include/image.h, "legacy"). QEMU starts it like
// U-Boot, in Hyp mode with PSCI firmware below; it would start an ELF file in Secure state, without
// firmware.
#pragma once

#include "run/input.hpp"

namespace mmioscope::run {

/// The image of `elf`, Throws Error (bad_input) that
/// names `path` if its segments are outside the file or too far apart.
Bytes boot_image(const Bytes& elf, const std::string& path);

} // namespace mmioscope::run
