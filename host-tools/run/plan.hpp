// A run with all inputs checked, ready to start.
#pragma once

#include "run/board.hpp"
#include "run/guest_program.hpp"
#include "run/input.hpp"
#include "run/kernel_names.hpp"
#include "run/run_options.hpp"
#include "run/serials.hpp"

#include <string>

namespace mmioscope::run {

struct Plan {
    Board board;
    Options options;  ///< as given, with the board's memory as default
    std::string qemu; ///< path of the program
    std::string hypervisor;
    Bytes boot_image; ///< the hypervisor as a U-Boot image; empty: not needed
    Bytes tree;       ///< for the hypervisor
    GuestProgram program{};
    Serials serials;
    KernelNames names;
    std::string qemu_version{};               ///< empty: unknown
    std::vector<std::string> module_probes{}; ///< run/module_probes.hpp
    std::string refused_accesses{}; ///< for QEMU's -d, if it logs accesses (run/qemu_version.hpp)
};

/// Reads and checks everything in `options`. Throws Error (bad_input), one line (for unknown
/// devices to trace, with a list of the known ones). Writes nothing, and starts only QEMU, for its
/// board's description and its version.
Plan make_plan(const Options& options);

} // namespace mmioscope::run
