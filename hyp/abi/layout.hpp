// Where everything lies relative to the hypervisor's load address, which a boot loader (or
// `mmioscope run`) must know to start it.
//
//   base + 0           the hypervisor's image and tables       (hidden from the guest)
//   base + 14 MiB      device tree, if r2 held none at entry   (hidden from the guest)
//   base + 15 MiB      control page (abi/control.hpp): no memory, Hyp answers the accesses
//   base + 16 MiB      trace area, `mmioscope,area-size` long  (hidden from the guest)
//   base - 2 MiB       the guest's device tree, by default     (guest RAM)
#pragma once

#include <cstdint>

namespace mmioscope::abi {

inline constexpr std::uint32_t boot_tree_offset = 14u << 20;
inline constexpr std::uint32_t control_page_offset = 15u << 20; ///< guest physical; 4 KiB
inline constexpr std::uint32_t area_offset = 16u << 20;
inline constexpr std::uint32_t guest_tree_room = 2u << 20;    ///< bytes, below the base
inline constexpr std::uint32_t max_tree_size = 1u << 20;      ///< a larger one is refused
inline constexpr std::uint32_t default_area_size = 64u << 20; ///< bytes
static_assert(boot_tree_offset + max_tree_size <= control_page_offset);

/// The hypervisor stops with a report on its UART: it begins with a line of stop_line and the
/// reason, and ends with the line end_of_report.
inline constexpr char stop_line[] = "mmioscope: stop: ";
inline constexpr char end_of_report[] = "mmioscope: end of report";

} // namespace mmioscope::abi
