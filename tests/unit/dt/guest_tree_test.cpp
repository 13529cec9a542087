// The guest's tree, checked with libfdt alone.
#include "dt/guest_tree.hpp"

#include "abi/control.hpp"
#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <array>
#include <cstring>
#include <libfdt.h>
#include <memory>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr const char* uart = "/bus@8000000/motherboard/iofpga@3,00000000/uart@a0000";

Blob guest_tree(const Blob& blob, const MemoryMap& memory) {
    const Tree tree = tree_of(blob);
    Config config;
    REQUIRE(!read_config(tree, config));
    Blob out(blob.size() + 4096);
    REQUIRE(!make_guest_tree(tree, memory, config.modules, std::array{tree.find(uart)}, out.data(),
                             out.size()));
    REQUIRE(fdt_check_full(out.data(), fdt_totalsize(out.data())) == 0);
    CHECK(fdt_totalsize(out.data()) == Tree::size_of(out.data()));
    return out;
}

MemoryMap carved_memory() {
    MemoryMap memory;
    REQUIRE(memory.push_back({0x8000'0000, 0x8200'0000}));
    REQUIRE(memory.push_back({0x8310'0000, 0x8400'0000}));
    return memory;
}

std::vector<std::uint32_t> cells(const Blob& tree, const char* path, const char* property) {
    int bytes = 0;
    const void* raw =
        fdt_getprop(tree.data(), fdt_path_offset(tree.data(), path), property, &bytes);
    REQUIRE(raw != nullptr);
    std::vector<std::uint32_t> values;
    for (int i = 0; i < bytes / 4; ++i)
        values.push_back(fdt32_ld(static_cast<const fdt32_t*>(raw) + i));
    return values;
}

bool has(const Blob& tree, const char* path, const char* property) {
    return fdt_getprop(tree.data(), fdt_path_offset(tree.data(), path), property, nullptr) !=
           nullptr;
}

const TreeOptions options{
    .engine = "shadow", .policy = "drop", .trace = {"all"}, .requests = {1, 0, 0}};

} // namespace

TEST_CASE("the guest's memory is what the hypervisor leaves, all of it in the first memory node") {
    Blob board = with_room(make_board_tree(options));
    const int first =
        fdt_add_subnode(board.data(), 0, "memory@1000000000"); // in front of the other
    REQUIRE(first > 0);
    REQUIRE(fdt_setprop_string(board.data(), first, "device_type", "memory") == 0);
    const Blob guest = guest_tree(board, carved_memory());
    CHECK(
        cells(guest, "/memory@1000000000", "reg") ==
        std::vector<std::uint32_t>{0, 0x8000'0000, 0, 0x0200'0000, 0, 0x8310'0000, 0, 0x00f0'0000});
    CHECK(fdt_path_offset(guest.data(), "/memory@80000000") == -FDT_ERR_NOTFOUND);
}

TEST_CASE("a disabled memory node is not the guest's, wherever it stands") {
    Blob board = with_room(make_board_tree(options));
    const int first = fdt_add_subnode(board.data(), 0, "secram@e000000"); // in front of the other
    REQUIRE(first > 0);
    REQUIRE(fdt_setprop_string(board.data(), first, "device_type", "memory") == 0);
    REQUIRE(fdt_setprop_string(board.data(), first, "status", "disabled") == 0);
    const Blob guest = guest_tree(board, carved_memory());
    CHECK(fdt_path_offset(guest.data(), "/secram@e000000") == -FDT_ERR_NOTFOUND);
    CHECK(cells(guest, "/memory@80000000", "reg")[1] == 0x8000'0000);
}

TEST_CASE("the hypervisor's UART is disabled, and every other device is unchanged") {
    const Blob board = make_board_tree(options);
    const Blob guest = guest_tree(board, carved_memory());
    CHECK(std::string(tree_of(guest).text(tree_of(guest).find(uart), "status")) == "disabled");
    int nodes = 0;
    for (int node = 0; node >= 0; node = fdt_next_node(board.data(), node, nullptr)) {
        char path[256];
        REQUIRE(fdt_get_path(board.data(), node, path, sizeof path) == 0);
        if (std::string(path).find("/chosen") == 0) continue;
        const int there = fdt_path_offset(guest.data(), path);
        CAPTURE(path);
        REQUIRE(there >= 0);
        ++nodes;
        if (std::string(path) == uart) continue;
        int size = 0, other = 0;
        const void* reg = fdt_getprop(board.data(), node, "reg", &size);
        const void* copy = fdt_getprop(guest.data(), there, "reg", &other);
        if (reg == nullptr || std::string(path).find("/memory") == 0) continue;
        REQUIRE(size == other);
        CHECK(std::memcmp(reg, copy, static_cast<std::size_t>(size)) == 0);
    }
    CHECK(nodes > 15);
}

TEST_CASE("/chosen names the ramdisk as Linux expects it, and nothing of the hypervisor's") {
    const Blob guest = guest_tree(make_board_tree(options), carved_memory());
    CHECK(cells(guest, "/chosen", "linux,initrd-start") ==
          std::vector<std::uint32_t>{0, at::ramdisk});
    CHECK(cells(guest, "/chosen", "linux,initrd-end") ==
          std::vector<std::uint32_t>{0, at::ramdisk + 0x2345});
    CHECK(has(guest, "/chosen", "bootargs"));
    for (const char* own : {abi::chosen::trace, abi::chosen::engine, abi::chosen::policy,
                            abi::chosen::area_size, abi::chosen::requests})
        CHECK(!has(guest, "/chosen", own));
    CHECK(fdt_first_subnode(guest.data(), fdt_path_offset(guest.data(), "/chosen")) ==
          -FDT_ERR_NOTFOUND);
}

TEST_CASE("the guest's command line keeps the clock of the hypervisor's UART on") {
    // The words of `clocks`, and whether there are two of them by name.
    const auto [words, two, several] = GENERATE(table<int, bool, bool>({{0, false, false},
                                                                        {1, false, false},
                                                                        {2, false, true},
                                                                        {2, true, false},
                                                                        {4, true, true}}));
    const bool has_line = GENERATE(true, false);
    Blob board = with_room(make_board_tree(options));
    const std::uint32_t clocks[4]{};
    const int node = fdt_path_offset(board.data(), uart);
    if (words > 0) REQUIRE(fdt_setprop(board.data(), node, "clocks", clocks, 4 * words) == 0);
    if (two) REQUIRE(fdt_setprop(board.data(), node, "clock-names", "uartclk\0apb_pclk", 17) == 0);
    const int chosen = fdt_path_offset(board.data(), "/chosen");
    if (has_line) REQUIRE(fdt_setprop_string(board.data(), chosen, "bootargs", "quiet ro") == 0);
    else REQUIRE(fdt_delprop(board.data(), chosen, "bootargs") == 0);

    const Tree tree = tree_of(board);
    CHECK(loses_clock(tree, std::array{tree.find(uart)}) == several);
    CHECK(!loses_clock(tree, std::array{tree.find("/chosen")}));
    const Blob guest = guest_tree(board, carved_memory());
    const char* line = tree_of(guest).text(tree_of(guest).find("/chosen"), "bootargs");
    const std::string before = has_line ? "quiet ro" : "";
    CHECK(std::string(line != nullptr ? line : "") ==
          (several ? before + " clk_ignore_unused" : before));
}

TEST_CASE("too little room for the guest's tree is an error, at every size") {
    const Blob board = make_board_tree(options);
    const Tree tree = tree_of(board);
    Config config;
    REQUIRE(!read_config(tree, config));
    bool made = false;
    for (std::size_t room = 0; room < board.size() + 512; room += 16) {
        const auto out = std::make_unique_for_overwrite<std::byte[]>(room + 1);
        const auto error =
            make_guest_tree(tree, carved_memory(), config.modules, {}, out.get(), room);
        CAPTURE(room);
        REQUIRE(!(made && error)); // if some room is enough, more is, too
        made = !error;
    }
    CHECK(made);
}

TEST_CASE("the control page and the trace area are announced, if there is a control page") {
    const Blob board = with_room(make_board_tree(options));
    const Tree tree = tree_of(board);
    Config config;
    REQUIRE(!read_config(tree, config));
    Blob out(board.size() + 4096);
    const auto make = [&](const ControlRanges& control) {
        REQUIRE(!make_guest_tree(tree, carved_memory(), config.modules, std::array{tree.find(uart)},
                                 out.data(), out.size(), control));
        REQUIRE(fdt_check_full(out.data(), fdt_totalsize(out.data())) == 0);
        return fdt_path_offset(out.data(), "/mmioscope");
    };
    CHECK(make({}) < 0);
    const int node = make({{0x82f0'0000, 0x82f0'1000}, {0x8300'0000, 0x8310'0000}});
    REQUIRE(node >= 0);
    CHECK(fdt_node_check_compatible(out.data(), node, abi::control::compatible) == 0);
    const auto reg = cells(out, "/mmioscope", "reg");
    const bool wide = reg.size() == 8; // two cells for addresses and sizes
    CHECK((wide ? reg[1] : reg[0]) == 0x82f0'0000);
    CHECK(reg.back() == 0x10'0000);
    CHECK(fdt_stringlist_search(out.data(), node, "reg-names", "trace") == 1);
    CHECK(fdt_node_check_compatible(out.data(), node, abi::readable_compatible) == 1);
}

TEST_CASE("an area that the guest may read says so, with a control page or without") {
    const Blob board = with_room(make_board_tree({.guest_reader = true}));
    const Tree tree = tree_of(board);
    Config config;
    REQUIRE(!read_config(tree, config));
    Blob out(board.size() + 4096);
    const Range area{0x8300'0000, 0x8310'0000};
    for (const bool controlled : {true, false}) {
        const Range page = controlled ? Range{0x82f0'0000, 0x82f0'1000} : Range{};
        REQUIRE(!make_guest_tree(tree, carved_memory(), config.modules, {}, out.data(), out.size(),
                                 {page, area, true}));
        const int node = fdt_path_offset(out.data(), "/mmioscope");
        REQUIRE(node >= 0);
        CHECK(fdt_node_check_compatible(out.data(), node, abi::readable_compatible) == 0);
        CHECK(fdt_node_check_compatible(out.data(), node, abi::control::compatible) ==
              (controlled ? 0 : 1));
        CHECK(fdt_stringlist_search(out.data(), node, "reg-names", "trace") ==
              (controlled ? 1 : 0));
        CHECK(cells(out, "/mmioscope", "reg").size() == (controlled ? 8 : 4));
        CHECK(!has(out, "/chosen", abi::chosen::guest_reader));
    }
}
