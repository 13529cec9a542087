#include "run/board.hpp"

#include "system/error.hpp"

#include <array>

namespace mmioscope::run {

namespace {

constexpr std::array boards = {
    Board{
        .name = "vexpress-a15",
        .machine = "vexpress-a15",
        .described_by = "",
        .cpu = "",
        .ram_base = 0x8000'0000,
        .hypervisor_base = 0x8800'0000,
        .boot_image = false,
        .memory = 512ull << 20,
        .min_memory = 0,
        .max_memory = 2048ull << 20,
        .max_cpus = 4,
        .cpus_soldered = false,
        .serials = 4,
        .guest_serial = 0,
        .hypervisor_serial = 1,
        .serial_nodes = {},
        .network = "lan9118",
        .network_soldered = true,
        .sd_card = true,
        .command_line = "console=ttyAMA0",
    },
    // highmem: QEMU 7.2 cuts HPFAR to 32 bits, so nothing may lie above 4 GiB.
    Board{
        .name = "virt",
        .machine = "virt,virtualization=on,gic-version=2,highmem=off",
        .described_by = "virt,gic-version=2,highmem=off",
        .cpu = "cortex-a15",
        .ram_base = 0x4000'0000,
        .hypervisor_base = 0x4800'0000,
        .boot_image = false,
        .memory = 512ull << 20,
        .min_memory = 0,
        .max_memory = 3072ull << 20,
        .max_cpus = 8,
        .cpus_soldered = false,
        .serials = 1,
        .guest_serial = 0,
        .hypervisor_serial = 0,
        .serial_nodes = {},
        .network = "virtio-net-device",
        .network_soldered = false,
        .sd_card = false,
        .command_line = "console=ttyAMA0",
    },
    Board{
        .name = "orangepi-pc",
        .machine = "orangepi-pc",
        .described_by = "",
        .cpu = "",
        .ram_base = 0x4000'0000,
        .hypervisor_base = 0x4800'0000,
        .boot_image = true,
        .memory = 1024ull << 20,
        .min_memory = 1024ull << 20,
        .max_memory = 1024ull << 20,
        .max_cpus = 4,
        .cpus_soldered = true,
        .serials = 4,
        .guest_serial = 0,
        .hypervisor_serial = 1,
        .serial_nodes = {"/soc/serial@1c28000", "/soc/serial@1c28400", "/soc/serial@1c28800",
                         "/soc/serial@1c28c00"},
        .network = "allwinner-sun8i-emac",
        .network_soldered = true,
        .sd_card = true,
        .command_line = "console=ttyS0",
    },
};

} // namespace

const Board& find_board(std::string_view name) {
    for (const Board& board : boards) {
        if (board.name == name) {
            return board;
        }
    }
    throw bad_input("unknown board '{}'; known are: {}", name, board_names());
}

std::string board_names() {
    std::string names;
    for (const Board& board : boards) {
        names += (names.empty() ? "" : ", ") + std::string(board.name);
    }
    return names;
}

} // namespace mmioscope::run
