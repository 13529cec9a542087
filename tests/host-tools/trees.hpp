// A small device tree for tests.
#pragma once

#include "catch_2_or_3.hpp"
#include "run/input.hpp"

#include <libfdt.h>

namespace mmioscope::test {

/// A root of 2+1 cells with memory, an alias, two UARTs behind a bus and a codec behind I2C.
inline run::Bytes small_tree() {
    run::Bytes tree(4096);
    void* fdt = tree.data();
    const auto ok = [](int result) { REQUIRE(result == 0); };
    const auto cells = [&](std::uint32_t address, std::uint32_t size) {
        ok(fdt_property_u32(fdt, "#address-cells", address));
        ok(fdt_property_u32(fdt, "#size-cells", size));
    };
    const auto reg1 = [&](std::uint32_t address, std::uint32_t size) {
        const fdt32_t reg[2] = {cpu_to_fdt32(address), cpu_to_fdt32(size)};
        ok(fdt_property(fdt, "reg", reg, sizeof reg));
    };
    ok(fdt_create(fdt, static_cast<int>(tree.size())));
    ok(fdt_finish_reservemap(fdt));
    ok(fdt_begin_node(fdt, ""));
    cells(2, 1);
    ok(fdt_begin_node(fdt, "aliases"));
    ok(fdt_property_string(fdt, "serial0", "/bus/serial@9000"));
    ok(fdt_end_node(fdt));
    ok(fdt_begin_node(fdt, "memory@80000000"));
    ok(fdt_property_string(fdt, "device_type", "memory"));
    const fdt32_t reg[3] = {0, cpu_to_fdt32(0x8000'0000u), cpu_to_fdt32(0x1000'0000u)};
    ok(fdt_property(fdt, "reg", reg, sizeof reg));
    ok(fdt_end_node(fdt));
    ok(fdt_begin_node(fdt, "bus"));
    cells(1, 1);
    ok(fdt_property(fdt, "ranges", nullptr, 0));
    for (const char* name : {"serial@9000", "serial@a000"}) {
        ok(fdt_begin_node(fdt, name));
        reg1(name[7] == '9' ? 0x9000 : 0xa000, 0x1000);
        ok(fdt_end_node(fdt));
    }
    ok(fdt_begin_node(fdt, "i2c@b000"));
    cells(1, 0);
    reg1(0xb000, 0x1000);
    ok(fdt_begin_node(fdt, "codec@39"));
    ok(fdt_property_u32(fdt, "reg", 0x39));
    ok(fdt_end_node(fdt));
    ok(fdt_end_node(fdt));
    ok(fdt_end_node(fdt));
    ok(fdt_begin_node(fdt, "chosen"));
    ok(fdt_property_string(fdt, "bootargs", "old"));
    ok(fdt_property_u32(fdt, "linux,initrd-start", 1));
    ok(fdt_end_node(fdt));
    ok(fdt_end_node(fdt));
    ok(fdt_finish(fdt));
    tree.resize(fdt_totalsize(fdt));
    return tree;
}

} // namespace mmioscope::test
