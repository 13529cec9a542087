// The device tree for the hypervisor.
#include "abi/chosen.hpp"
#include "run/boot_tree.hpp"
#include "trees.hpp"

#include <string>

using namespace mmioscope;
using namespace mmioscope::run;
using namespace mmioscope::test;

namespace {

std::string text(const Bytes& tree, const char* path, const char* property) {
    const int node = fdt_path_offset(tree.data(), path);
    REQUIRE(node >= 0);
    int length = 0;
    const void* value = fdt_getprop(tree.data(), node, property, &length);
    return value == nullptr
               ? "absent"
               : std::string(static_cast<const char*>(value), static_cast<std::size_t>(length));
}

std::string cells(std::initializer_list<std::uint32_t> numbers) {
    std::string bytes;
    for (const std::uint32_t number : numbers) {
        for (int bit = 24; bit >= 0; bit -= 8) {
            bytes += static_cast<char>(number >> bit & 0xff);
        }
    }
    return bytes;
}

BootTree description() {
    return {.memory = 512u << 20,
            .kernel = Module{0x8300'0000, 1000},
            .ramdisk = Module{0x8400'0000, 2000},
            .command_line = "console=ttyAMA0",
            .trace = {"all", "!serial0"},
            .engine = "emulation",
            .policy = "stall",
            .pre = true,
            .area_size = 4u << 20,
            .task_names = symbols::TaskOffsets{0x780, 0x630}};
}

} // namespace

TEST_CASE("the composed tree has everything that the hypervisor needs") {
    const Bytes tree = compose_tree(small_tree(), find_board("vexpress-a15"), description());
    CHECK(fdt_check_full(tree.data(), tree.size()) == 0);
    CHECK(text(tree, "/memory@80000000", "reg") == cells({0, 0x8000'0000, 512u << 20}));
    CHECK(text(tree, "/chosen", "#address-cells") == cells({2}));
    CHECK(text(tree, "/chosen", "#size-cells") == cells({1}));
    CHECK(text(tree, "/chosen", "bootargs") == std::string("console=ttyAMA0\0", 16));
    CHECK(text(tree, "/chosen", "linux,initrd-start") == "absent");
    CHECK(text(tree, "/chosen", abi::chosen::trace) == std::string("all\0!serial0\0", 13));
    CHECK(text(tree, "/chosen", abi::chosen::engine) == std::string("emulation\0", 10));
    CHECK(text(tree, "/chosen", abi::chosen::policy) == std::string("stall\0", 6));
    CHECK(text(tree, "/chosen", abi::chosen::pre) == "");
    CHECK(text(tree, "/chosen", abi::chosen::task_names) == cells({0x780, 0x630}));
    CHECK(text(tree, "/chosen", abi::chosen::control) == "absent");
    CHECK(text(tree, "/chosen", abi::chosen::area_size) == cells({4u << 20}));
    CHECK(text(tree, "/chosen/module@83000000", "reg") == cells({0, 0x8300'0000, 1000}));
    CHECK(text(tree, "/chosen/module@84000000", "reg") == cells({0, 0x8400'0000, 2000}));
    CHECK(text(tree, "/chosen/module@83000000", "compatible").starts_with(abi::chosen::kernel));
    CHECK(text(tree, "/chosen/module@84000000", "compatible").starts_with(abi::chosen::ramdisk));
}

TEST_CASE("options that are not given are left to the tree, the board and the hypervisor") {
    BootTree what = description();
    what.command_line.reset();
    what.ramdisk.reset();
    what.trace.clear();
    what.engine.clear();
    what.policy.clear();
    what.control_page = false;
    const Bytes tree = compose_tree(small_tree(), find_board("vexpress-a15"), what);
    CHECK(text(tree, "/chosen", "bootargs") == std::string("old\0", 4));
    CHECK(text(tree, "/chosen", abi::chosen::trace) == "absent");
    CHECK(text(tree, "/chosen", abi::chosen::engine) == "absent");
    CHECK(text(tree, "/chosen", abi::chosen::control) == std::string("off\0", 4));
    CHECK(fdt_path_offset(tree.data(), "/chosen/module@84000000") < 0);
}

TEST_CASE("a tree without /memory and /chosen gets both") {
    Bytes tree(1024);
    REQUIRE(fdt_create_empty_tree(tree.data(), static_cast<int>(tree.size())) == 0);
    const Bytes composed = compose_tree(tree, find_board("vexpress-a15"), description());
    CHECK(text(composed, "/memory@80000000", "device_type") == std::string("memory\0", 7));
    CHECK(text(composed, "/chosen", "bootargs").starts_with("console"));
}

TEST_CASE("a board with firmware says so in its tree, and its surplus CPUs are marked as failed") {
    BootTree what = description();
    what.cpus = 3;
    Bytes with_cpus(8192);
    REQUIRE(fdt_open_into(small_tree().data(), with_cpus.data(), 8192) == 0);
    void* edited = with_cpus.data();
    REQUIRE(fdt_add_subnode(edited, 0, "cpus") >= 0);
    for (const char* name : {"cpu-map", "cpu@f03", "cpu@f02", "cpu@f01", "cpu@f00"}) {
        const int node = fdt_add_subnode(edited, fdt_path_offset(edited, "/cpus"), name);
        REQUIRE(node >= 0); // the last one comes first
        REQUIRE((std::string_view(name) == "cpu-map" ||
                 fdt_setprop_string(edited, node, "device_type", "cpu") == 0));
    }
    const Bytes tree = compose_tree(with_cpus, find_board("orangepi-pc"), what);
    CHECK(text(tree, "/psci", "compatible") == std::string("arm,psci-1.0\0arm,psci-0.2\0", 26));
    CHECK(text(tree, "/psci", "method") == std::string("smc\0", 4));
    CHECK(text(tree, "/cpus/cpu@f03", "status") == std::string("fail\0", 5));
    CHECK(text(tree, "/cpus/cpu@f02", "status") == "absent");
    CHECK(text(tree, "/cpus/cpu-map", "status") == "absent");
    CHECK(fdt_path_offset(compose_tree(small_tree(), find_board("vexpress-a15"), what).data(),
                          "/psci") < 0);
}
