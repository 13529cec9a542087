// What start_machine() refuses: one line on the UART, and the guest never runs.
#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// The reason in a report.
std::string reason(const std::string& text) {
    const auto begin = text.find(abi::stop_line);
    REQUIRE(begin != std::string::npos);
    CHECK(text.find(abi::stop_line, begin + 1) == std::string::npos);
    const auto line = text.substr(begin + std::string(abi::stop_line).size());
    return line.substr(0, line.find('\r'));
}

/// Boots with `options`, which must be refused. Returns the reason on the hypervisor's UART.
std::string refusal(const RigOptions& options) {
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(!rig.simulation.cores[0].ended);
    return reason(rig.text());
}

/// The same, on the guest's console.
std::string refusal_on_console(const RigOptions& options) {
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.text() == "");
    std::string text;
    for (const auto& access : rig.bus_log(at::console, 4))
        if (access.write) text += static_cast<char>(access.value);
    return reason(text);
}

template <class Edit>
RigOptions edited(Edit&& edit) {
    RigOptions options;
    options.blob = with_room(make_board_tree({}));
    REQUIRE(edit(options.blob.data()) == 0);
    return options;
}

} // namespace

TEST_CASE("boot refuses an unknown device and lists the known ones") {
    RigOptions options;
    options.tree.trace = {"nothing"};
    CHECK(refusal(options) == "unknown device to trace: nothing");
    Rig rig(options);
    rig.run();
    CHECK(rig.text().find("known: /bus@8000000/motherboard/iofpga@3,00000000/fifo@130000\r\n") !=
          std::string::npos);
}

TEST_CASE("boot refuses a tree without a kernel") {
    CHECK(refusal(edited([](void* blob) {
              return fdt_del_node(blob, fdt_path_offset(blob, "/chosen/module@80008000"));
          })) == "/chosen has no boot module that is a kernel");
}

TEST_CASE("boot refuses too little memory and too small an area") {
    RigOptions options;
    options.tree.memory_size = 32 << 20;
    CHECK(refusal(options).find("too little memory") == 0);
    options = {};
    options.tree.cpus = options.conditions.cpus = 4;
    options.tree.area_size = 0x3'0000;
    CHECK(refusal(options) == "mmioscope,area-size is too small for this many CPUs");
}

TEST_CASE("boot refuses a stream beside a reader in the guest, and an invalid word for a service") {
    RigOptions options;
    options.tree.guest_reader = true;
    options.tree.stream = "serial2";
    CHECK(refusal(options) == "mmioscope,guest-reader and mmioscope,stream exclude each other");
    CHECK(refusal(edited([](void* blob) {
              return fdt_setprop_string(blob, fdt_path_offset(blob, "/chosen"),
                                        abi::chosen::control, "maybe");
          })) == "mmioscope,control must be on or off");
}

TEST_CASE("boot refuses two clusters without firmware") {
    RigOptions options;
    options.blob = with_room(make_board_tree({.cpus = 2}));
    void* blob = options.blob.data();
    REQUIRE(fdt_setprop_u32(blob, fdt_path_offset(blob, "/cpus/cpu@1"), "reg", 0x100) == 0);
    CHECK(refusal(options) ==
          "two clusters, and no PSCI firmware that starts CPUs: remove the other cluster's from "
          "/cpus: cpu@1");
}

TEST_CASE("boot refuses a missing tree") {
    RigOptions options;
    options.blob = Blob(64);
    CHECK(refusal(options) ==
          "no device tree at r2, nor 14 MiB above the image: the boot loader must load it");
}

TEST_CASE("boot refuses modules at impossible places") {
    const auto move_kernel = [](std::uint32_t to) {
        return edited([to](void* blob) {
            const fdt32_t reg[] = {0, cpu_to_fdt32(to), 0, cpu_to_fdt32(0x1000)};
            return fdt_setprop(blob, fdt_path_offset(blob, "/chosen/module@80008000"), "reg", reg,
                               sizeof reg);
        });
    };
    CHECK(refusal(move_kernel(0x8200'0000)) == "a boot module lies outside the guest's memory");
    CHECK(refusal(move_kernel(0x1000'0000)) == "a boot module lies outside the guest's memory");
    CHECK(refusal(move_kernel(0x81e0'0000)) ==
          "a boot module overlaps the place of the guest's device tree");
}

TEST_CASE("boot refuses a guest's tree at an impossible place") {
    const auto tree_at = [](std::uint32_t place) {
        return refusal(edited([place](void* blob) {
            return fdt_setprop_u32(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::guest_tree,
                                   place);
        }));
    };
    const char* outside = "mmioscope,guest-tree lies outside the guest's memory";
    CHECK(tree_at(0x8200'0000) == outside); // the hypervisor's
    CHECK(tree_at(0x1000'0000) == outside);
    CHECK(tree_at(0xffff'fff8) == outside); // it ends above 4 GiB
    CHECK(tree_at(0x8000'0004) == "mmioscope,guest-tree must be a multiple of 8");
    CHECK(tree_at(0x8000'8000) == "a boot module overlaps the place of the guest's device tree");
}

TEST_CASE("boot refuses the baseline where there are no breakpoints") {
    RigOptions options = options_for(abi::EngineKind::unprotect, 1, 1);
    (GENERATE(false, true) ? options.conditions.dbgen_low : options.conditions.no_debug_events) =
        ~0u;
    CHECK(refusal(options) == "engine unprotect needs breakpoints, and none work here");
}

TEST_CASE("boot refuses a UART that it has no driver for, on the guest's console") {
    const std::string given = GENERATE("fifo", "nothing");
    CHECK(refusal_on_console(edited([&](void* blob) {
              return fdt_setprop_string(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::uart,
                                        given.c_str());
          })) == "mmioscope,uart is not a PL011, an 8250, or one of i.MX: " + given);
}

TEST_CASE("the hypervisor may use another UART; then the first one is the guest's") {
    Rig rig(edited([](void* blob) {
        return fdt_setprop_string(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::uart,
                                  "serial0");
    }));
    rig.program(0).mov(0, at::own_uart).mov(1, 'x').str(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.text() == "x"); // the sink is at the other one
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("a device in the hypervisor's UART does not make it the guest's") {
    Rig rig(edited([](void* blob) {
        const int chosen = fdt_path_offset(blob, "/chosen");
        const char* path =
            static_cast<const char*>(fdt_getprop(blob, chosen, abi::chosen::uart, nullptr));
        const int uart = fdt_path_offset(blob, path);
        const int led = fdt_add_subnode(blob, fdt_parent_offset(blob, uart), "led@a0000");
        const fdt32_t reg[] = {cpu_to_fdt32(0xa0000), cpu_to_fdt32(4)};
        return fdt_setprop(blob, led, "reg", reg, sizeof reg);
    }));
    rig.program(0).end();
    rig.run();
    CHECK(rig.failure() == "");
    const Tree& tree = rig.setup.tree;
    REQUIRE(rig.setup.withheld_nodes.size() == 1);
    CHECK(std::string(tree.name(rig.setup.withheld_nodes[0])) == "uart@a0000");
    for (const std::uint32_t offset : {0u, 4u, 0x18u})
        CHECK(rig.machine->map.find({at::own_uart + offset})->mapped == Mapped::never);
}

TEST_CASE("a refusal is printed on the UART that was chosen", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(abi::EngineKind::shadow, 1, seed);
        TreeOptions tree;
        tree.trace = {"nothing"};
        options.blob = with_room(make_board_tree(tree));
        void* blob = options.blob.data();
        REQUIRE(fdt_setprop_string(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::uart,
                                   "serial0") == 0);
        Rig rig(options);
        rig.run();
        REQUIRE(rig.failure() == "");
        CHECK(rig.text() == "");
        CHECK(rig.bus_log(at::console, 0x1000).size() > 40);
    }
}
