// Why the hypervisor does not start.
#pragma once

namespace mmioscope {

/// What is wrong with what the boot loader handed over; `what` is null if nothing is.
struct BootError {
    const char* what{};
    const char* subject{""};
    bool lists_devices{}; ///< a list of the known devices would help

    explicit operator bool() const { return what != nullptr; }
};

} // namespace mmioscope
