// Finds UARTs that the hypervisor can use.
#pragma once

#include "board/board.hpp"
#include "dt/tree.hpp"
#include "trace/region_map.hpp"

#include <optional>
#include <span>

namespace mmioscope {

/// The UART of `node`: a PL011, one of i.MX, or an 8250 under one of its usual names, with
/// reg-shift and reg-io-width. Nothing if it is none of these, or its registers cannot be accessed
/// that way.
std::optional<Uart> uart_of(const Tree& tree, int node);

/// Finds the bits without which `uarts`, nodes in use by the hypervisor, stop (UartBits), and makes
/// all accesses to their registers trap. False: no room.
[[nodiscard]] bool keep_uarts(const Tree& tree, std::span<const int> uarts, RegionMap& map,
                              KeptBits& out);

} // namespace mmioscope
