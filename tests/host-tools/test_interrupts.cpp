// Interrupts: from the device tree to the GIC's numbers, and from these to names.
#include "allocations.hpp"
#include "records.hpp"
#include "registers/interrupt_names.hpp"
#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"
#include "tree_maker.hpp"

using namespace mmioscope;
using namespace mmioscope::registers;
using namespace mmioscope::test;

namespace {

std::string ids(const tree::TreeNodes& tree, const std::string& path) {
    const std::size_t node = tree.find(path);
    REQUIRE(node != tree::TreeNodes::none);
    std::string text;
    for (const TreeInterrupt& interrupt : interrupts_of(tree, node)) {
        text += (text.empty() ? "" : " ") + std::to_string(interrupt.id);
        text += interrupt.name.empty() ? "" : ":" + interrupt.name;
    }
    return text;
}

std::vector<std::byte> blob(const std::string& path) {
    const std::string text = whole_file(path, "description");
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// A GIC at the root, and what `more` adds.
std::vector<std::byte> with_gic(const std::function<void(TreeMaker&)>& more,
                                std::size_t room = 16384) {
    return make_tree(
        [&](TreeMaker& make) {
            make.cells(1, 1);
            make.numbers("interrupt-parent", {1});
            make.node("gic@a000", [&] {
                make.strings("compatible", {"arm,gic-400"});
                make.numbers("phandle", {1});
                make.numbers("#interrupt-cells", {3});
                make.numbers("#address-cells", {0});
                make.numbers("reg", {0xa000, 0x1000, 0xb000, 0x2000});
            });
            more(make);
        },
        room);
}

abi::Record gicc(bool write, std::uint32_t offset, std::uint64_t value) {
    abi::Record record = access(0, 0, 1'000);
    record.device = 1;
    record.access = abi::encode_access(write, 2);
    record.value = value;
    record.pa_low = 0xb000 + offset;
    return record;
}

} // namespace

TEST_CASE("shared and private interrupts of the GIC") {
    const auto tree = with_gic([](TreeMaker& make) {
        make.node("uart@1000", [&] {
            make.numbers("interrupts", {0, 5, 4, 0, 6, 4});
            make.strings("interrupt-names", {"rx", "tx"});
        });
        make.node("timer", [&] { make.numbers("interrupts", {1, 13, 0xf08, 1, 14, 0xf08}); });
        make.node("far@2000", [&] {
            make.numbers("interrupts-extended", {1, 0, 7, 4, 99, 0, 8, 4});
        });
        make.node("odd@3000", [&] {
            make.numbers("interrupts", {7, 5, 4, 0, 988, 4, 1, 16, 4, 0, 9});
        });
        make.node("none@4000", [&] { make.numbers("reg", {0x4000, 4}); });
    });
    const tree::TreeNodes nodes(tree);
    CHECK(ids(nodes, "/uart@1000") == "37:rx 38:tx");
    CHECK(ids(nodes, "/timer") == "29 30");
    CHECK(ids(nodes, "/far@2000") == "39");
    CHECK(ids(nodes, "/odd@3000").empty());
    CHECK(ids(nodes, "/none@4000").empty());
}

TEST_CASE("interrupts through a map, and through a controller in front of the GIC") {
    const auto tree = with_gic([](TreeMaker& make) {
        make.node("bus", [&] {
            make.cells(1, 1);
            make.numbers("ranges", {});
            make.numbers("#interrupt-cells", {1});
            make.numbers("interrupt-map-mask", {0, 0x3f});
            make.numbers("interrupt-map", {0, 4, 1, 0, 40, 4, 0, 5, 1, 0, 50, 4});
            make.node("inner", [&] {
                make.node("uart@1000", [&] { make.numbers("interrupts", {0x45}); });
                make.node("gone@2000", [&] { make.numbers("interrupts", {6}); });
            });
        });
        make.node("wakeup", [&] {
            make.numbers("phandle", {2});
            make.numbers("#interrupt-cells", {3});
        });
        make.node("rtc", [&] {
            make.numbers("interrupt-parent", {2});
            make.numbers("interrupts", {0, 40, 4});
        });
        make.node("loop", [&] {
            make.numbers("phandle", {3});
            make.numbers("interrupt-parent", {4});
            make.numbers("#interrupt-cells", {3});
        });
        make.node("loop2", [&] {
            make.numbers("phandle", {4});
            make.numbers("interrupt-parent", {3});
            make.numbers("#interrupt-cells", {3});
        });
        make.node("lost", [&] {
            make.numbers("interrupt-parent", {3});
            make.numbers("interrupts", {0, 40, 4});
        });
    });
    const tree::TreeNodes nodes(tree);
    CHECK(ids(nodes, "/bus/inner/uart@1000") == "82");
    CHECK(ids(nodes, "/bus/inner/gone@2000").empty());
    CHECK(ids(nodes, "/rtc") == "72");
    CHECK(ids(nodes, "/lost").empty());
}

TEST_CASE("values of a GIC's CPU interface are described in words") {
    const auto tree = with_gic([](TreeMaker& make) {
        make.node("uart@1000", [&] { make.numbers("interrupts", {0, 5, 4}); });
        make.node("card@2000", [&] { make.numbers("interrupts", {0, 9, 4, 0, 10, 4, 0, 5, 4}); });
        make.node("timer", [&] { make.numbers("interrupts", {1, 11, 0xf08, 1, 10, 0xf08}); });
    });
    std::vector<abi::RegionEntry> regions = {region(0xa000, 0x1000, "/gic@a000"),
                                             region(0xb000, 0x2000, "/gic@a000")};
    regions[1].reg_index = 1;
    const std::vector<std::string> names = {"gic", "gic[1]"};
    InterruptNames interrupts;
    interrupts.bind(list_devices(regions, tree), names, tree);
    const auto text = [&](bool write, std::uint32_t offset, std::uint64_t value) -> std::string {
        return interrupts.says(gicc(write, offset, value), offset) ? interrupts.text(value) : "-";
    };
    CHECK(text(false, 0xc, 37) == "37 uart@1000, card@2000 #2");
    CHECK(text(false, 0xc, 41) == "41 card@2000");
    CHECK(text(true, 0x10, 42) == "42 card@2000 #1");
    CHECK(text(false, 0xc, 27) == "PPI 27 timer");
    CHECK(text(false, 0xc, 0x403) == "SGI 3 from cpu1");
    CHECK(text(false, 0xc, 1023) == "spurious");
    CHECK(text(false, 0x18, 1022) == "spurious, one of the other group");
    CHECK(text(false, 0xc, 99) == "99");
    CHECK(text(false, 0x4, 37) == "-");
    CHECK(text(false, 0xc, 1020) == "reserved 1020");
    CHECK(text(true, 0x1000, 41) == "41 card@2000"); // GICC_DIR
    CHECK(text(true, 0x1004, 41) == "-");
    CHECK(text(false, 0xc, 26) == "PPI 26 timer"); // private ones have no index
    abi::Record unknown = gicc(false, 0xc, 41);
    unknown.flags = abi::flag_value_unknown;
    CHECK(!interrupts.says(unknown, 0xc));
}

TEST_CASE("an interrupt names only a few devices, each once, and no long name in full") {
    const std::string name = std::string(50'000, 'n') + "@1000";
    const auto tree = with_gic(
        [&](TreeMaker& make) {
            make.node(name.c_str(), [&] {
                std::vector<std::uint32_t> cells;
                for (std::uint32_t i = 0; i < 2'000; ++i) {
                    cells.insert(cells.end(), {0, i % 2 == 0 ? 5 : i % 900, 4});
                }
                make.numbers("interrupts", cells);
            });
            for (const char* node : {"a@1", "b@2", "c@3", "d@4", "e@5", "f@6", "g@7", "h@8"}) {
                make.node(node, [&] { make.numbers("interrupts", {0, 5, 4, 0, 5, 4}); });
            }
        },
        1u << 20);
    InterruptNames interrupts;
    const Allocations bound;
    interrupts.bind({}, {}, tree);
    CHECK(bound.bytes() < 4u << 20);
    CHECK(interrupts.devices(37) ==
          std::string(100, 'n') + ", a@1, b@2, c@3, d@4, e@5, f@6, g@7, ...");
}

TEST_CASE("the interrupts of the vexpress and orangepi trees") {
    const auto vexpress = blob("build/guest/vexpress-v2p-ca15-tc1.dtb");
    const tree::TreeNodes v2m(vexpress);
    const std::string iofpga = "/bus@8000000/motherboard-bus@8000000/iofpga-bus@300000000";
    CHECK(ids(v2m, iofpga + "/serial@90000") == "37");
    CHECK(ids(v2m, iofpga + "/mmc@50000") == "41 42");
    CHECK(ids(v2m, iofpga + "/clcd@1f0000") == "46:combined");
    CHECK(ids(v2m, "/bus@8000000/motherboard-bus@8000000/ethernet@202000000") == "47");
    CHECK(ids(v2m, "/timer") == "29 30 27 26");
    CHECK(ids(v2m, "/hdlcd@2b000000") == "117");
    const auto reg = v2m.reg(v2m.find("/bus@8000000/motherboard-bus@8000000/ethernet@202000000"));
    REQUIRE(reg.size() == 1);
    CHECK(reg[0].base == 0x1a000000);
    const auto orangepi = blob("build/guest/sun8i-h3-orangepi-pc.dtb");
    const tree::TreeNodes h3(orangepi);
    CHECK(ids(h3, "/soc/serial@1c28000") == "32");
    CHECK(ids(h3, "/soc/rtc@1f00000") == "72 73");
    CHECK(ids(h3, "/soc/mmc@1c0f000") == "92");
}
