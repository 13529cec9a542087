// Assigns QEMU's serial ports, other than the guest's console.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/options.hpp"

#include <optional>
#include <string>

namespace mmioscope::run {

struct Serials {
    std::optional<unsigned> stream; ///< the stream leaves through this one
    std::string stream_node;        ///< its path in the device tree, or its alias
    unsigned hypervisor = 0;        ///< the hypervisor speaks on this one
    std::string hypervisor_node;    ///< empty: the board's choice
};

/// The stream's UART is what `options` names; if that is the board's for the hypervisor, this one
/// gets the first that is nobody's. Throws Error (bad_input): there is none, or it is the guest's.
Serials assign_serials(const Options& options, const Board& board, const Bytes& tree);

} // namespace mmioscope::run
