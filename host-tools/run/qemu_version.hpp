// Asks a QEMU program what it is.
#pragma once

#include <string>

namespace mmioscope::run {

/// "7.2.22 (Debian 1:7.2+dfsg-7)", from `qemu --version`; empty if it does not answer in two
/// seconds.
std::string qemu_version(const std::string& qemu);

/// What its -d calls the accesses that no device model takes: "guest_errors", and for QEMU 10
/// "invalid_mem", too.
std::string refused_accesses(const std::string& qemu);

} // namespace mmioscope::run
