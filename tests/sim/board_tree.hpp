// The device tree of the simulated board: a small vexpress-a15, chip-select bus included.
#pragma once

#include "dt/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::sim {

struct TreeOptions {
    unsigned cpus{1};
    std::string engine{}; ///< empty: no such property
    std::string policy{};
    bool pre{};
    bool slow_path{};
    bool no_breakpoints{};
    bool user_firewall{};
    std::string uart{
        "/bus@8000000/motherboard/iofpga@3,00000000/uart@a0000"}; ///< empty: no such property
    std::string control{};
    bool guest_reader{};
    bool probes{};
    std::vector<std::uint32_t> probe_cells{};
    std::vector<std::uint32_t> loads_modules{}; ///< cells; empty: no such property
    std::optional<std::vector<std::uint32_t>> watch{}; ///< cells; nothing: no such property
    std::optional<std::vector<std::uint32_t>> pages{}; ///< likewise
    std::vector<std::string> stacks{}; ///< empty: no such property
    std::uint32_t stack_size{};        ///< 0: no such property
    std::string stream{};
    bool stream_shared{};
    std::uint32_t area_size{1 << 20};
    std::vector<std::string> trace{};        ///< empty: no such property
    std::vector<std::uint32_t> requests{};   ///< cells; empty: no such property
    std::vector<std::uint32_t> task_names{}; ///< cells; empty: no such property
    std::uint64_t memory_begin{0x8000'0000};
    std::uint64_t memory_size{64 << 20};
};

using Blob = std::vector<std::byte>;

/// The tree, with a kernel and a ramdisk under /chosen.
Blob make_board_tree(const TreeOptions& options);

/// The same tree with room for edits by libfdt.
Blob with_room(const Blob& tree, std::size_t extra = 4096);

/// Reads a sound tree.
Tree tree_of(const Blob& blob);

// Addresses of its devices.
namespace at {
inline constexpr std::uint32_t sram = 0x1800'0000; ///< "mtd-ram": not part of `all`
inline constexpr std::uint32_t sysreg = 0x1c01'0000;
inline constexpr std::uint32_t console = 0x1c09'0000;  ///< the guest's UART
inline constexpr std::uint32_t own_uart = 0x1c0a'0000; ///< the hypervisor's
inline constexpr std::uint32_t fifo = 0x1c13'0000;
inline constexpr std::uint32_t gadget = 0x1c14'0000;    ///< 0x100 bytes
inline constexpr std::uint32_t neighbour = 0x1c14'0100; ///< 0x100 bytes in the same page
inline constexpr std::uint32_t wide = 0x1c15'0000;      ///< three pages
inline constexpr std::uint32_t broken = 0x1c16'0000;    ///< aborts every access
inline constexpr std::uint32_t hidden = 0x1c17'0000;    ///< disabled
inline constexpr std::uint32_t unnamed = 0x1c18'0000;   ///< no node
inline constexpr std::uint32_t gic = 0x2c00'1000;       ///< two `reg` entries of a page each
inline constexpr std::uint32_t kernel = 0x8000'8000;
inline constexpr std::uint32_t ramdisk = 0x8060'0000;
} // namespace at

} // namespace mmioscope::sim
