// Reads the options and the boot modules under /chosen (names: abi/layout.hpp). Services read their
// own.
#pragma once

#include "dt/tree.hpp"
#include "machine/config.hpp"

namespace mmioscope {

/// Reads /chosen and /psci. After an error, nothing in `config` is valid.
BootError read_config(const Tree& tree, Config& config);

} // namespace mmioscope
