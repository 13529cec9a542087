// Assigns QEMU's serial ports, other than the guest's console.
#pragma once

#include "run/board.hpp"
#include "run/input.hpp"
#include "run/run_options.hpp"

#include <optional>
#include <string>

namespace mmioscope::run {

struct Serials {
    std::optional<unsigned> stream; ///< for the stream
    std::string stream_node;        ///< its path in the device tree, or its alias
    unsigned hypervisor = 0;        ///< for the hypervisor's messages
    std::string hypervisor_node;    ///< empty: the board has one serial port
};

/// The stream gets the UART that `options` names; if that is the board's for the hypervisor, the
/// hypervisor gets the first free one. Throws Error (bad_input) if there is no such UART, or it is
/// the guest's.
Serials assign_serials(const Options& options, const Board& board, const Bytes& tree);

} // namespace mmioscope::run
