// The device tree of a board that QEMU describes itself.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/options.hpp"

#include <string>

namespace mmioscope::run {

/// The tree that QEMU makes for `board` with the CPUs and the memory of `options`, as for a guest
/// without a hypervisor. Runs `qemu` for a moment. Throws Error with QEMU's message if it fails.
Bytes machine_tree(const Board& board, const Options& options, const std::string& qemu);

} // namespace mmioscope::run
