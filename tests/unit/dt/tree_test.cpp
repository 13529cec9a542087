#include "dt/tree.hpp"

#include "sim/board_tree.hpp"

#include <catch2/catch.hpp>
#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr const char* fifo = "/bus@8000000/motherboard/iofpga@3,00000000/fifo@130000";
}

TEST_CASE("addresses are translated through every bus up to the root") {
    const Blob blob = make_board_tree({});
    const Tree tree(blob.data());
    Range range;
    REQUIRE(tree.reg(tree.find(fifo), 0, range));
    CHECK(range.begin == at::fifo);
    CHECK(range.end == at::fifo + 0x1000);
    CHECK(!tree.reg(tree.find(fifo), 1, range));
    REQUIRE(tree.reg(tree.find("/bus@8000000/motherboard/sram@2,00000000"), 0, range));
    CHECK(range.begin == at::sram);
    REQUIRE(tree.reg(tree.find("/interrupt-controller@2c001000"), 1, range));
    CHECK(range.begin == at::gic + 0x1000);
}

TEST_CASE("what no `ranges` maps has no address") {
    const Blob blob = make_board_tree({});
    const Tree tree(blob.data());
    Range range;
    CHECK(!tree.reg(tree.find("/cpus/cpu@0"), 0, range));
    CHECK(!tree.reg(tree.find("/chosen/module@80008000"), 0, range));
    CHECK(tree.untranslated_reg(tree.find("/chosen/module@80008000"), 0, range));
    CHECK(range.begin == at::kernel);

    Blob outside = with_room(make_board_tree({}));
    const int node = fdt_path_offset(outside.data(), fifo);
    const fdt32_t reg[] = {cpu_to_fdt32(0x20'0000),
                           cpu_to_fdt32(0x1000)}; // first behind the window
    REQUIRE(fdt_setprop(outside.data(), node, "reg", reg, sizeof reg) == 0);
    CHECK(!Tree(outside.data()).reg(Tree(outside.data()).find(fifo), 0, range));
}

TEST_CASE("an address range that leaves the 40-bit bus is none") {
    Blob blob = with_room(make_board_tree({}));
    const int node = fdt_path_offset(blob.data(), "/interrupt-controller@2c001000");
    const auto set = [&](std::uint32_t high, std::uint32_t low, std::uint32_t size_high,
                         std::uint32_t size_low) {
        const fdt32_t reg[] = {cpu_to_fdt32(high), cpu_to_fdt32(low), cpu_to_fdt32(size_high),
                               cpu_to_fdt32(size_low)};
        REQUIRE(fdt_setprop(blob.data(), node, "reg", reg, sizeof reg) == 0);
    };
    Range range;
    const Tree tree(blob.data());
    set(0xff, 0xffff'f000, 0, 0x1000);
    CHECK(tree.reg(node, 0, range));
    CHECK(range.end == std::uint64_t{1} << 40);
    set(0xff, 0xffff'f000, 0, 0x1001);
    CHECK(!tree.reg(node, 0, range));
    set(0x100, 0, 0, 0x1000);
    CHECK(!tree.reg(node, 0, range));
    set(0, 0x1000, 0xffff'ffff, 0xffff'ffff);
    CHECK(!tree.reg(node, 0, range));
    set(0, 0x1000, 0, 0);
    CHECK(!tree.reg(node, 0, range));
}

TEST_CASE("nodes are found by path and alias, and named in full or by their end") {
    const Blob blob = make_board_tree({});
    const Tree tree(blob.data());
    CHECK(tree.find("fifo") == tree.find(fifo));
    CHECK(tree.find("nothing") < 0);
    char text[64];
    tree.path(tree.find(fifo), text, sizeof text);
    CHECK(std::string(text) == fifo);
    tree.path(tree.find(fifo), text, 13);
    CHECK(std::string(text) == "~fifo@130000");
}

TEST_CASE("properties of the wrong kind read as absent") {
    Blob blob = with_room(make_board_tree({}));
    const int node = fdt_path_offset(blob.data(), fifo);
    REQUIRE(fdt_setprop(blob.data(), node, "unterminated", "abc", 3) == 0);
    REQUIRE(fdt_setprop(blob.data(), node, "short", "ab", 2) == 0);
    const Tree tree(blob.data());
    CHECK(tree.text(node, "unterminated") == nullptr);
    CHECK(tree.cell(node, "short", 7) == 7);
    CHECK(tree.cell(node, "absent", 9) == 9);
    CHECK(tree.disabled(tree.find("/bus@8000000/motherboard/iofpga@3,00000000/hidden@170000")));
    CHECK(!tree.disabled(node));
}

TEST_CASE("what is no whole tree is refused") {
    Blob blob = make_board_tree({});
    CHECK(!Tree::check(blob.data(), blob.size()));
    CHECK(Tree::check(blob.data(), blob.size() - 1)); // larger than its room
    blob[0] = std::byte{0};
    CHECK(std::string(Tree::check(blob.data(), blob.size()).what) == "no device tree");
}

TEST_CASE("a CPU whose status is fail is broken, one that is disabled is not") {
    Blob blob = with_room(make_board_tree({}));
    const Tree tree(blob.data());
    const auto failed_with = [&](const char* status) {
        const int cpu = fdt_path_offset(blob.data(), "/cpus/cpu@0");
        REQUIRE(fdt_setprop_string(blob.data(), cpu, "status", status) == 0);
        return tree.failed(fdt_path_offset(blob.data(), "/cpus/cpu@0"));
    };
    CHECK(!tree.failed(tree.find("/cpus/cpu@0")));
    CHECK(!failed_with("okay"));
    CHECK(!failed_with("disabled"));
    CHECK(failed_with("fail"));
    CHECK(failed_with("fail-sss"));
}
