// The commands for U-Boot, by the addresses that `mmioscope run` uses.
#include "abi/chosen.hpp"
#include "plan/board_plan.hpp"
#include "run/board.hpp"

#include <fmt/format.h>

namespace mmioscope::plan {

namespace {

constexpr std::uint64_t mib = 1u << 20;

std::vector<std::string> module_commands(std::string_view name, std::string_view kind,
                                         std::uint64_t address) {
    return {
        fmt::format("fdt mknode /chosen module@{}", name),
        fmt::format("fdt set /chosen/module@{} compatible {} multiboot,module", name, kind),
        fmt::format("fdt set /chosen/module@{} reg <{:#x} 0x${{{}_size}}>", name, address, name)};
}

std::vector<std::string> load_commands(std::string_view file, std::uint64_t address,
                                       std::string_view size) {
    std::vector<std::string> typed{fmt::format("load mmc 0:1 {:#x} {}", address, file)};
    if (!size.empty()) {
        typed.push_back(fmt::format("setenv {}_size ${{filesize}}", size));
    }
    return typed;
}

} // namespace

std::vector<Line> commands(const Survey& board) {
    if (board.own.empty()) {
        return {};
    }
    run::Board place{};
    place.ram_base = board.load - (place.hypervisor_base() - place.ram_base);
    const std::uint64_t image = place.ram_base + 32 * mib; // where bootm finds it, to move it
    const std::uint64_t tree = place.ram_base + 112 * mib;
    const std::uint64_t all_in_one = board.load + 16 * mib; // free until the hypervisor runs

    std::vector<Line> lines;
    const auto type = [&lines](const std::vector<std::string>& typed, std::string_view where) {
        for (const std::string& text : typed) {
            lines.push_back({.section = where, .text = text});
        }
    };
    type({fmt::format("arm-none-eabi-objcopy -O binary hyp-{:08x}.elf hyp.bin", board.own.begin),
          fmt::format("mkimage -A arm -O linux -T kernel -C none -a {0:#x} -e {0:#x} -d hyp.bin "
                      "mmioscope.img",
                      board.load)},
         "host");
    // The tree and the ramdisk stay where they are loaded: U-Boot would move them to where the
    // trace will be.
    // Without firmware that must stay in Secure state, the hypervisor goes to Hyp by itself. Not
    // every U-Boot that leaves Secure state does.
    const std::vector<std::string> settings{
        fmt::format("setenv bootm_boot_mode {}", board.secure_will_do() ? "sec" : "nonsec"),
        "setenv fdt_high ffffffff", "setenv initrd_high ffffffff"};
    type(settings, "image");
    type(load_commands("mmioscope.itb", all_in_one, ""), "image");
    type({fmt::format("bootm {:#x}", all_in_one)}, "image");
    const auto enter = [&type](const std::vector<std::string>& typed) { type(typed, "U-Boot"); };
    enter(settings);
    enter(load_commands("zImage", place.kernel_address(), "kernel"));
    enter(load_commands("initrd.img", place.ramdisk_address(), "ramdisk"));
    enter(load_commands("board.dtb", tree, ""));
    enter({fmt::format("fdt addr {:#x}", tree), "fdt resize 65536"});
    if (board.tree.find("/chosen") < 0) {
        enter({"fdt mknode / chosen"});
    }
    enter({"fdt set /chosen '#address-cells' <1>", "fdt set /chosen '#size-cells' <1>"});
    enter(module_commands("kernel", abi::chosen::kernel, place.kernel_address()));
    enter(module_commands("ramdisk", abi::chosen::ramdisk, place.ramdisk_address()));
    if (const StreamUart stream = stream_uart(board); stream.node >= 0) {
        enter({fmt::format("fdt set /chosen {} {}", abi::chosen::stream, board.path(stream.node))});
        if (stream.shared) {
            enter({fmt::format("fdt set /chosen {}", abi::chosen::stream_shared)});
        }
    }
    enter(load_commands("mmioscope.img", image, ""));
    enter({fmt::format("bootm {:#x} - {:#x}", image, tree)});
    return lines;
}

} // namespace mmioscope::plan
