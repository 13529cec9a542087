#include "dt/config.hpp"

#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <functional>
#include <libfdt.h>
#include <string>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// The configuration of the board's tree after `edit`, which gets the blob and /chosen.
std::pair<Config, std::string> config_of(const TreeOptions& options,
                                         const std::function<int(void*, int)>& edit = {}) {
    Blob blob = with_room(make_board_tree(options));
    if (edit) REQUIRE(edit(blob.data(), fdt_path_offset(blob.data(), "/chosen")) == 0);
    Config config;
    const BootError error = read_config(tree_of(blob), config);
    return {config, error ? error.what : ""};
}

} // namespace

TEST_CASE("settings that /chosen does not give have defaults") {
    const auto [config, error] = config_of({.uart = ""}, [](void* blob, int chosen) {
        return fdt_delprop(blob, chosen, abi::chosen::area_size);
    });
    CHECK(error == "");
    CHECK(config.engine == abi::EngineKind::shadow);
    CHECK(config.policy == abi::Policy::drop);
    CHECK(config.area_size == abi::default_area_size);
    CHECK(config.modules.kernel.begin == at::kernel);
    CHECK(config.modules.ramdisk.size() == 0x2345);
}

TEST_CASE("begin records are written if /chosen has the property, whatever its value") {
    CHECK(!config_of({}).first.pre);
    CHECK(config_of({.pre = true}).first.pre);
}

TEST_CASE("a reader in the guest replaces the stream, and never makes the guest wait") {
    CHECK(!config_of({}).first.guest_reader);
    CHECK(config_of({}).first.host_reader);
    const auto [config, error] = config_of({.guest_reader = true});
    CHECK(error == "");
    CHECK(config.guest_reader);
    CHECK(!config.host_reader);
    CHECK(config_of({.guest_reader = true}, [](void* blob, int chosen) {
              return fdt_setprop_string(blob, chosen, abi::chosen::host_reader, "on");
          }).first.host_reader);
    CHECK(config_of({.policy = "stall", .guest_reader = true}).second ==
          "mmioscope,guest-reader and policy stall exclude each other");
}

TEST_CASE("words of /chosen choose engine and policy; other words are errors") {
    CHECK(config_of({.engine = "emulation"}).first.engine == abi::EngineKind::emulation);
    CHECK(config_of({.engine = "unprotect"}).first.engine == abi::EngineKind::unprotect);
    CHECK(config_of({.policy = "stall"}).first.policy == abi::Policy::stall);
    CHECK(config_of({.policy = "flight"}).first.policy == abi::Policy::flight);
    CHECK(config_of({.engine = "magic"}).second ==
          "mmioscope,engine must be shadow, emulation or unprotect");
    CHECK(config_of({.policy = "stal"}).second == "mmioscope,policy must be drop, stall or flight");
    CHECK(config_of({}, [](void* blob, int chosen) {
              return fdt_setprop(blob, chosen, abi::chosen::engine, "shadow",
                                 6); // no zero at the end
          }).second != "");
}

TEST_CASE("a number that is not one cell is an error") {
    for (const char* name : {abi::chosen::area_size, abi::chosen::entry, abi::chosen::guest_tree}) {
        CAPTURE(name);
        const auto error_of = [&](std::size_t bytes) {
            return config_of({},
                             [=](void* blob, int chosen) {
                                 return fdt_setprop(blob, chosen, name, "\0\x10\0\0\0\0\0\0\0",
                                                    static_cast<int>(bytes));
                             })
                .second;
        };
        CHECK(error_of(4) == "");
        for (const std::size_t wrong : {0u, 3u, 8u, 9u})
            CHECK(error_of(wrong) == "an option must be one cell");
    }
}

TEST_CASE("an area not of whole pages and a module without a reg are errors") {
    CHECK(config_of({.area_size = 0x10'0001}).second ==
          "mmioscope,area-size must be a multiple of 4 KiB");
    CHECK(config_of({}, [](void* blob, int) {
              return fdt_delprop(blob, fdt_path_offset(blob, "/chosen/module@80600000"), "reg");
          }).second == "boot module without a reg");
    CHECK(config_of({}, [](void* blob, int chosen) { return fdt_del_node(blob, chosen); }).second ==
          "the device tree has no /chosen");
}

TEST_CASE("the identifiers of PSCI 0.1 are those of the tree") {
    const char* const compatible = GENERATE("arm,psci", "arm,psci-0.2", "acme,psci");
    const auto [config, error] = config_of({}, [&](void* blob, int) {
        const int node = fdt_add_subnode(blob, 0, "psci");
        return fdt_setprop_u32(blob, node, "cpu_on", 0x95c1'ba60) +
               fdt_setprop_string(blob, node, "method", "smc") +
               fdt_setprop_string(blob, node, "compatible", compatible);
    });
    CHECK(error == "");
    const bool known = std::string(compatible).starts_with("arm");
    CHECK(config.conduit == (known ? psci::Conduit::smc : psci::Conduit::none));
    CHECK(config.psci_functions.cpu_on == (known ? 0x95c1'ba60 : 0));
    CHECK(config.psci_functions.cpu_off == 0);
}
