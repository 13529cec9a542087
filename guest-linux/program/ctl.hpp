// mmioscope-guest ctl: the tracer steered by the machine that it traces.
#pragma once

#include "lib/error.hpp"

#include <span>
#include <string>

namespace mmioscope::guest {

/// Carries out `words` (control/words.hpp) and prints what there is to say. Throws Error.
Status steer(std::span<const std::string> words);

} // namespace mmioscope::guest
