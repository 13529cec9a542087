// Finds the version of a QEMU program.
#pragma once

#include <string>

namespace mmioscope::run {

/// "7.2.22 (Debian 1:7.2+dfsg-7)", from `qemu --version`; empty if it does not answer in two
/// seconds.
std::string qemu_version(const std::string& qemu);

} // namespace mmioscope::run
