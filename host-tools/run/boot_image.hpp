// The hypervisor as a U-Boot image (U-Boot's include/image.h, "legacy"). QEMU starts it as U-Boot
// would, in Hyp mode with PSCI firmware below; it would start an ELF file in Secure state with
// nothing below.
#pragma once

#include "run/input.hpp"

namespace mmioscope::run {

/// The image of `elf`, which check_hypervisor() has seen. Throws Error (bad_input) naming `path`
/// if its segments lie outside the file, or too far apart.
Bytes boot_image(const Bytes& elf, const std::string& path);

} // namespace mmioscope::run
