// The boards of `mmioscope run`. A new board is a new row in board.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::run {

struct Board {
    std::string name;                   ///< QEMU's
    std::string machine;                ///< QEMU's -M, with the properties the board needs
    std::string_view described_by = ""; ///< QEMU's -M for the tree; empty: the user's
    std::string_view cpu = "";          ///< QEMU's -cpu; empty: the machine's default
    std::string_view tree = "";         ///< Linux' name of its tree; empty: not known
    std::string_view compatible = "";   ///< what the root of each such tree has; empty: not known
    std::uint64_t ram_base;             ///< physical address
    bool boot_image = false; ///< QEMU starts the hypervisor like U-Boot: in Hyp mode, with PSCI
                             ///< firmware below
    std::uint64_t memory = 512u << 20; ///< bytes; default
    std::uint64_t min_memory = 0;
    std::uint64_t max_memory;
    std::uint64_t withheld_memory = 0; ///< bytes at its end that belong to another processor
    unsigned max_cpus;
    bool cpus_soldered = false; ///< QEMU's board always has all of them; the guest is told of fewer
    unsigned serials;           ///< number of UARTs that QEMU can connect
    unsigned guest_serial = 0;  ///< index of the guest's console
    unsigned hypervisor_serial; ///< index of the hypervisor's; the guest's if there is only one
    std::array<std::string_view, 4> serial_nodes = {}; ///< paths in the tree; empty: by alias
    std::string_view network = ""; ///< QEMU's model of the network card; empty: none
    bool network_soldered = false; ///< part of the board (-nic), not added to it (-device)
    bool sd_card = false;
    std::string_view command_line = ""; ///< if neither user nor device tree has one
    std::uint64_t place = 0; ///< load address of the hypervisor's image; 0: 128 MiB into the RAM

    bool one_serial() const { return guest_serial == hypervisor_serial; }
    /// Load address of its image, as linked by hyp/hyp.mk.
    std::uint64_t hypervisor_base() const { return place != 0 ? place : ram_base + (128u << 20); }
    std::uint64_t kernel_address() const { return ram_base + (48u << 20); }
    std::uint64_t ramdisk_address() const { return ram_base + (64u << 20); }
};

/// The load address of an image so high that nothing of a memory that ends at `end` is behind its
/// trace area of `area_size` bytes.
std::uint64_t top_base(std::uint64_t end, std::uint64_t area_size);

/// Throws Error (bad_input) that lists the known boards.
const Board& find_board(std::string_view name);

/// The board whose trees have `compatible` in their root for which `is_of` is true; null if none.
const Board* board_of_tree(const std::function<bool(std::string_view compatible)>& is_of);

/// Their names; the first is the default.
std::vector<std::string> board_names();

} // namespace mmioscope::run
