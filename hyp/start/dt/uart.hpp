// Finds UARTs that the hypervisor can use.
#pragma once

#include "board/board.hpp"
#include "dt/tree.hpp"

#include <optional>

namespace mmioscope {

/// The UART of `node`: a PL011, one of i.MX, or an 8250 under one of its usual names, with
/// reg-shift and reg-io-width. Nothing if it is none of these, or its registers cannot be accessed
/// that way.
std::optional<Uart> uart_of(const Tree& tree, int node);

} // namespace mmioscope
