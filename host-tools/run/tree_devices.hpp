// Finds the devices of a board in its device tree, like the hypervisor.
#pragma once

#include "run/input.hpp"
#include "wire/stream_head.hpp"

namespace mmioscope::run {

/// Every `reg` entry below 4 GiB that the CPU can address, and the aliases; the rest of the head is
/// empty. For control::find_device().
wire::StreamHead tree_devices(const Bytes& tree);

} // namespace mmioscope::run
