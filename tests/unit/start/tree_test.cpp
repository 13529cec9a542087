// The boot loader's device tree at any address, and the guest's.
#include <catch2/catch.hpp>

#include "abi/layout.hpp"
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
