// mmioscope-guest ctl: the traced machine controls its own tracer.
#pragma once

#include "control_page.hpp"
#include "system/error.hpp"

#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::guest {

/// Everything for which ctl needs root.
struct ControlAccess {
    std::unique_ptr<ControlPage> page;
    std::vector<std::byte> device_tree; ///< for the devices' names; empty if it cannot be read
};

/// Uses nothing that the user can influence. Throws Error.
ControlAccess open_control();

/// Carries out `words` (control/requests.hpp, or `modules`) and prints the result. Throws
/// Error.
Status steer(std::span<const std::string> words, std::future<ControlAccess>& access);

} // namespace mmioscope::guest
