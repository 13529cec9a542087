#include "run/board.hpp"

#include "abi/layout.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::run {

namespace {

const std::array boards = {
    Board{
        .name = "vexpress-a15",
        .machine = "vexpress-a15",
        .tree = "vexpress-v2p-ca15-tc1.dtb",
        .compatible = "arm,vexpress",
        .ram_base = 0x8000'0000,
        .max_memory = 2048ull << 20,
        .max_cpus = 4,
        .serials = 4,
        .hypervisor_serial = 1,
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
        .compatible = "linux,dummy-virt",
        .ram_base = 0x4000'0000,
        .max_memory = 3072ull << 20,
        .max_cpus = 8,
        .serials = 1,
        .hypervisor_serial = 0,
        .network = "virtio-net-device",
        .command_line = "console=ttyAMA0",
    },
    Board{
        .name = "orangepi-pc",
        .machine = "orangepi-pc",
        .tree = "sun8i-h3-orangepi-pc.dtb",
        .compatible = "allwinner,sun8i-h3",
        .ram_base = 0x4000'0000,
        .boot_image = true,
        .memory = 1024ull << 20,
        .min_memory = 1024ull << 20,
        .max_memory = 1024ull << 20,
        .max_cpus = 4,
        .cpus_soldered = true,
        .serials = 4,
        .hypervisor_serial = 1,
        .serial_nodes = {"/soc/serial@1c28000", "/soc/serial@1c28400", "/soc/serial@1c28800",
                         "/soc/serial@1c28c00"},
        .network = "allwinner-sun8i-emac",
        .network_soldered = true,
        .sd_card = true,
        .command_line = "console=ttyS0",
    },
    Board{
        .name = "mcimx7d-sabre",
        .machine = "mcimx7d-sabre",
        .tree = "imx7d-sdb.dtb",
        .compatible = "fsl,imx7d",
        .ram_base = 0x8000'0000,
        .boot_image = true,
        .max_memory = 2048ull << 20,
        .max_cpus = 2,
        .cpus_soldered = true,
        .serials = 4,
        .hypervisor_serial = 1,
        .network = "imx.enet",
        .network_soldered = true,
        .sd_card = true,
        .command_line = "console=ttymxc0",
    },
    Board{
        .name = "ast2600-evb",
        .machine = "ast2600-evb",
        .tree = "aspeed-ast2600-evb.dtb",
        .compatible = "aspeed,ast2600",
        .ram_base = 0x8000'0000,
        .memory = 1024ull << 20,
        .min_memory = 1024ull << 20,
        .max_memory = 1024ull << 20,
        .max_cpus = 2,
        .cpus_soldered = true,
        .serials = 2,
        .hypervisor_serial = 1,
        .serial_nodes = {"/ahb/apb/serial@1e784000", "/ahb/apb/serial@1e783000"},
        .network = "ftgmac100",
        .network_soldered = true,
        .command_line = "console=ttyS4",
    },
    Board{
        .name = "raspi2b",
        .machine = "raspi2b",
        .tree = "bcm2836-rpi-2-b.dtb",
        .compatible = "brcm,bcm2836",
        .ram_base = 0,
        .memory = 1024ull << 20,
        .min_memory = 1024ull << 20,
        .max_memory = 1024ull << 20,
        .withheld_memory = 64ull << 20,
        .max_cpus = 4,
        .cpus_soldered = true,
        .serials = 1,
        .hypervisor_serial = 0,
        .sd_card = true,
        .command_line = "console=ttyAMA0",
    },
};

} // namespace

std::uint64_t top_base(std::uint64_t end, std::uint64_t area_size) {
    constexpr std::uint64_t alignment = 2u << 20; // linker/hyp.ld
    return (end - area_size - abi::area_offset) / alignment * alignment;
}

const Board& find_board(std::string_view name) {
    const auto found = std::ranges::find(boards, name, &Board::name);
    if (found == boards.end()) {
        throw bad_input(
            "unknown board '{}'; boards: {}; or give the --dtb of another one of QEMU's", name,
            fmt::join(board_names(), ", "));
    }
    return *found;
}

const Board* board_of_tree(const std::function<bool(std::string_view compatible)>& is_of) {
    const auto found = std::ranges::find_if(boards, is_of, &Board::compatible);
    return found == boards.end() ? nullptr : &*found;
}

std::vector<std::string> board_names() {
    std::vector<std::string> names;
    for (const Board& board : boards) {
        names.emplace_back(board.name);
    }
    return names;
}

} // namespace mmioscope::run
