// A board of QEMU's that `run` has no row for: what its device tree says of it.
#pragma once

#include "run/board.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope::plan {

/// The board that QEMU calls `name`, by its device tree: with all its memory and CPUs, and the
/// guest's console as the only UART. Throws Error (bad_input) that says what it lacks.
run::Board tried_board(const std::string& name, std::span<const std::byte> tree);

} // namespace mmioscope::plan
