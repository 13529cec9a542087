#include "dt/tree.hpp"

#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"
#include "unit/dt/against_libfdt.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr const char* fifo = "/bus@8000000/motherboard/iofpga@3,00000000/fifo@130000";
}

TEST_CASE("addresses are translated through every bus up to the root") {
    const Blob blob = make_board_tree({});
    const Tree tree = tree_of(blob);
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

TEST_CASE("a node that no `ranges` maps has no address") {
    const Blob blob = make_board_tree({});
    const Tree tree = tree_of(blob);
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
    CHECK(!tree_of(outside).reg(tree_of(outside).find(fifo), 0, range));
}

TEST_CASE("an address range that leaves the 40-bit bus is refused") {
    Blob blob = with_room(make_board_tree({}));
    const int node = fdt_path_offset(blob.data(), "/interrupt-controller@2c001000");
    const auto set = [&](std::uint32_t high, std::uint32_t low, std::uint32_t size_high,
                         std::uint32_t size_low) {
        const fdt32_t reg[] = {cpu_to_fdt32(high), cpu_to_fdt32(low), cpu_to_fdt32(size_high),
                               cpu_to_fdt32(size_low)};
        REQUIRE(fdt_setprop(blob.data(), node, "reg", reg, sizeof reg) == 0);
    };
    Range range;
    const auto has_range = [&] {
        const Tree tree = tree_of(blob);
        return tree.reg(tree.find("/interrupt-controller@2c001000"), 0, range);
    };
    set(0xff, 0xffff'f000, 0, 0x1000);
    CHECK(has_range());
    CHECK(range.end == std::uint64_t{1} << 40);
    set(0xff, 0xffff'f000, 0, 0x1001);
    CHECK(!has_range());
    set(0x100, 0, 0, 0x1000);
    CHECK(!has_range());
    set(0, 0x1000, 0xffff'ffff, 0xffff'ffff);
    CHECK(!has_range());
    set(0, 0x1000, 0, 0);
    CHECK(!has_range());
}

TEST_CASE("nodes are found by path and alias, and named by their whole path or its end") {
    const Blob blob = make_board_tree({});
    const Tree tree = tree_of(blob);
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
    const Tree tree = tree_of(blob);
    const int there = tree.find(fifo);
    CHECK(tree.text(there, "unterminated") == nullptr);
    CHECK(tree.cell(there, "short", 7) == 7);
    CHECK(tree.cell(there, "absent", 9) == 9);
    CHECK(tree.disabled(tree.find("/bus@8000000/motherboard/iofpga@3,00000000/hidden@170000")));
    CHECK(!tree.disabled(there));
}

TEST_CASE("an incomplete tree is refused") {
    Blob blob = make_board_tree({});
    Tree tree;
    CHECK(!tree.read(blob.data(), blob.size()));
    CHECK(tree.read(blob.data(), blob.size() - 1)); // larger than the buffer
    blob[0] = std::byte{0};
    CHECK(std::string(tree.read(blob.data(), blob.size()).what) == "no device tree");
}

TEST_CASE("a CPU whose status is fail is broken, a disabled one is not") {
    Blob blob = with_room(make_board_tree({}));
    const auto failed = [&] {
        const Tree tree = tree_of(blob);
        return tree.failed(tree.find("/cpus/cpu@0"));
    };
    const auto failed_with = [&](const char* status) {
        const int cpu = fdt_path_offset(blob.data(), "/cpus/cpu@0");
        REQUIRE(fdt_setprop_string(blob.data(), cpu, "status", status) == 0);
        return failed();
    };
    CHECK(!failed());
    CHECK(!failed_with("okay"));
    CHECK(!failed_with("disabled"));
    CHECK(failed_with("fail"));
    CHECK(failed_with("fail-sss"));
}

TEST_CASE("a path is cut where its buffer ends") {
    const Blob blob = make_board_tree({});
    const Tree tree = tree_of(blob);
    const std::string whole = fifo;
    for (std::size_t room = 2; room < whole.size() + 4; ++room) {
        std::vector<char> text(room + 1, '?'); // one more, which stays
        tree.path(tree.find(fifo), text.data(), room);
        CHECK(text.back() == '?');
        CHECK(text.data() ==
              (room > whole.size() ? whole : "~" + whole.substr(whole.size() - (room - 2))));
    }
    char root[2];
    tree.path(0, root, sizeof root);
    CHECK(std::string(root) == "/");
}

namespace {

/// A tree of `nodes` nodes, including the root: `deep` of them nested, the others siblings.
Blob tree_of_nodes(std::size_t nodes, std::size_t deep) {
    Blob blob(nodes * 16 + 4096);
    REQUIRE(fdt_create(blob.data(), static_cast<int>(blob.size())) == 0);
    REQUIRE(fdt_finish_reservemap(blob.data()) == 0);
    for (std::size_t n = 0; n < deep; ++n)
        REQUIRE(fdt_begin_node(blob.data(), n == 0 ? "" : "d") == 0);
    for (std::size_t n = deep; n < nodes; ++n) {
        REQUIRE(fdt_begin_node(blob.data(), "b") == 0);
        REQUIRE(fdt_end_node(blob.data()) == 0);
    }
    for (std::size_t n = 0; n < deep; ++n) REQUIRE(fdt_end_node(blob.data()) == 0);
    REQUIRE(fdt_finish(blob.data()) == 0);
    return blob;
}

} // namespace

TEST_CASE("a tree may have as many nodes as there is room for, side by side or nested; one more is "
          "refused") {
    for (const std::size_t deep : {std::size_t{1}, Tree::max_nodes - 1}) {
        CAPTURE(deep);
        Tree tree;
        const Blob most = tree_of_nodes(Tree::max_nodes, deep);
        REQUIRE(!tree.read(most.data(), most.size()));
        CHECK(tree.count() == static_cast<int>(Tree::max_nodes));
        CHECK(tree.behind(0) == tree.count());
        char text[8];
        tree.path(tree.count() - 1, text, sizeof text);
        CHECK(std::string(text) == (deep == 1 ? "/b" : "~/d/d/b"));
        Range range;
        CHECK(!tree.reg(tree.count() - 1, 0, range));
        const Blob more = tree_of_nodes(Tree::max_nodes + 1, deep);
        CHECK(std::string(tree.read(more.data(), more.size()).subject) ==
              "it has more than 4096 nodes");
    }
}

TEST_CASE("a tree that has moved answers as before") {
    const Blob blob = make_board_tree({});
    Tree tree = tree_of(blob);
    Blob room(blob.size() + 64);
    tree.move(room.data() + 32);
    tree.move(room.data() + 60); // overlaps itself
    Range range;
    REQUIRE(tree.reg(tree.find(fifo), 0, range));
    CHECK(range.begin == at::fifo);
    CHECK(std::string(tree.name(tree.find(fifo))) == "fifo@130000");
}

TEST_CASE("an alias of an alias, or of itself, is not found") {
    Blob blob = with_room(make_board_tree({}));
    const int aliases = fdt_path_offset(blob.data(), "/aliases");
    REQUIRE(fdt_setprop_string(blob.data(), aliases, "self", "self") == 0);
    REQUIRE(fdt_setprop_string(blob.data(), aliases, "other", "fifo") == 0);
    const Tree tree = tree_of(blob);
    CHECK(tree.find("self") < 0);
    CHECK(tree.find("other") < 0);
    CHECK(tree.find("fifo/") == tree.find(fifo));
    CHECK(tree.find("fifo/below") < 0);
}

TEST_CASE("a tree edited by libfdt, with NOPs in it, reads as libfdt reads it") {
    Blob blob = with_room(make_board_tree({.cpus = 3, .trace = {"all", "!fifo"}}));
    CHECK(difference_from_libfdt(tree_of(blob)) == "");
    REQUIRE(fdt_nop_property(blob.data(), fdt_path_offset(blob.data(), fifo), "compatible") == 0);
    REQUIRE(fdt_nop_node(blob.data(), fdt_path_offset(blob.data(), "/cpus/cpu@1")) == 0);
    REQUIRE(fdt_nop_node(blob.data(), fdt_path_offset(blob.data(), "/chosen/module@80600000")) ==
            0);
    CHECK(difference_from_libfdt(tree_of(blob)) == "");
    CHECK(tree_of(blob).find("/cpus/cpu@1") < 0);
}
