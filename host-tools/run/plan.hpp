// A run with all inputs checked, ready to start.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/kernel_names.hpp"
#include "run/run_options.hpp"
#include "system/error.hpp"

#include <optional>
#include <string>

namespace mmioscope::run {

/// QEMU's serial ports, other than the guest's console.
struct Serials {
    std::optional<unsigned> stream; ///< for the stream
    std::string stream_node;        ///< its path in the device tree, or its alias
    unsigned hypervisor = 0;        ///< for the hypervisor's messages
    std::string hypervisor_node;    ///< empty: the board has one serial port
};

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
    std::vector<std::string> module_probes{}; ///< run/probes.hpp
    std::string refused_accesses{}; ///< for QEMU's -d, if it logs accesses (run/qemu_command.hpp)
};

/// Reads and checks everything in `options`. Throws Error (bad_input), one line (for unknown
/// devices to trace, with a list of the known ones). Writes nothing, and starts only QEMU, for its
/// board's description and its version.
Plan make_plan(const Options& options);

// One run: QEMU from start to end, its trace recorded, printed and judged.

/// Carries out `plan`, and reports on standard output. Returns Status::fine only if the guest
/// ended by itself, said what was expected, and the trace is complete. Throws Error if the run
/// cannot be started or recorded.
Status run_session(const Plan& plan);

} // namespace mmioscope::run
