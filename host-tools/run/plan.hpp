// A run whose inputs have all been checked and that only needs to be started.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/kernel_names.hpp"
#include "run/options.hpp"
#include "run/serials.hpp"

#include <string>

namespace mmioscope::run {

struct Plan {
    const Board* board; ///< never null
    Options options;    ///< as given; with the board's memory if none was
    std::string qemu;   ///< path of the program
    std::string hypervisor;
    Bytes boot_image; ///< the same as a U-Boot image; empty: the board needs none
    Bytes tree;       ///< for the hypervisor
    Serials serials;
    KernelNames names;
    std::string qemu_version; ///< empty: not known
};

/// Reads and checks everything `options` names. Throws Error (bad_input) in one line (unknown
/// devices to trace: with a list of the known ones). Writes nothing, and starts nothing but QEMU,
/// which describes its board and says its version.
Plan make_plan(const Options& options);

} // namespace mmioscope::run
