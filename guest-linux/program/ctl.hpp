// mmioscope-guest ctl: the tracer steered by the machine that it traces.
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

/// All that ctl needs root for.
struct ControlAccess {
    std::unique_ptr<ControlPage> page;
    std::vector<std::byte> device_tree; ///< for the devices' names; empty if it cannot be read
};

/// Looks at nothing that the user has a say in. Throws Error.
ControlAccess open_control();

/// Carries out `words` (control/words.hpp, or `modules`) and prints what there is to say. Throws
/// Error.
Status steer(std::span<const std::string> words, std::future<ControlAccess>& access);

} // namespace mmioscope::guest
