// The boot loader's device tree at any address, and the guest's.
#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/rig.hpp"

#include <cstring>
#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// The guest's tree if the board's is at this address.
Blob guest_tree(std::uint32_t boot_tree) {
    RigOptions options;
    options.boot_tree = boot_tree;
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    const std::byte* tree =
        rig.simulation.ram.at({rig.machine->image.text.begin - abi::guest_tree_room});
    REQUIRE(fdt_check_full(tree, abi::guest_tree_room) == 0);
    return {tree, tree + fdt_totalsize(tree)};
}

} // namespace

TEST_CASE("the guest's tree and entry are where /chosen says, and then no kernel is needed") {
    constexpr std::uint32_t place = 0x8100'0000;
    RigOptions options;
    options.blob = make_board_tree({});
    options.blob.resize(options.blob.size() + 512);
    void* blob = options.blob.data();
    REQUIRE(fdt_open_into(blob, blob, static_cast<int>(options.blob.size())) == 0);
    REQUIRE(fdt_del_node(blob, fdt_path_offset(blob, "/chosen/module@80008000")) == 0);
    const auto set = [blob](const char* name, std::uint32_t value) {
        return fdt_setprop_u32(blob, fdt_path_offset(blob, "/chosen"), name, value);
    };
    REQUIRE(set(abi::chosen::entry, at::kernel) == 0);
    REQUIRE(set(abi::chosen::guest_tree, place) == 0);
    Rig rig(options);
    rig.program(0).end(); // at the kernel's address
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.reg(0, 2) == place);
    CHECK(fdt_check_full(rig.simulation.ram.at({place}), abi::guest_tree_room) == 0);
}

TEST_CASE("a boot loader may put its tree where the guest's tree goes") {
    constexpr std::uint32_t image = 0x8200'0000;
    const Blob expected = guest_tree(0x8100'0000);
    for (const std::uint32_t place :
         {image - abi::guest_tree_room, image - abi::guest_tree_room + 64,
          image - abi::guest_tree_room + 0x1000, image - 0x8000}) {
        CAPTURE(place);
        CHECK(guest_tree(place) == expected);
    }
}

TEST_CASE("r2 is read only if there is no tree at the place for it") {
    constexpr std::uint32_t place = 0x8200'0000 + abi::boot_tree_offset;
    constexpr std::uint32_t no_memory = 0x1c18'0000;
    const bool wild = GENERATE(true, false);
    RigOptions options;
    options.boot_tree = wild ? place : 0x8100'0000;
    if (wild) options.r2 = no_memory; // a read of it fails
    Rig rig(options);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.setup.boot_tree.begin == options.boot_tree);
    CHECK(rig.simulation.ram.load<std::uint32_t>(place) == 0); // the next boot does not take it
}
