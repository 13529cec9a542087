// Fail-stop: if something impossible happens, it ends in a report (trap/panic.cpp).
#pragma once

namespace mmioscope {

/// Reports `what` on the hypervisor's UART and stops all CPUs.
[[noreturn]] void panic(const char* what);

/// For conditions that hold unless the hypervisor or the hardware is broken; never for input.
inline void check(bool holds, const char* what) {
    if (!holds) [[unlikely]]
        panic(what);
}

} // namespace mmioscope
