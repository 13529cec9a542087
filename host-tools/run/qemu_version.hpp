// Finds the version of a QEMU program.
#pragma once

#include <string>

namespace mmioscope::run {

/// "7.2.22 (Debian 1:7.2+dfsg-7)", as `qemu --version` has it; empty if it does not say so in two
/// seconds.
std::string qemu_version(const std::string& qemu);

} // namespace mmioscope::run
