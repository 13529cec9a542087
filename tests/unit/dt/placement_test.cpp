#include "dt/placement.hpp"

#include "catch_2_or_3.hpp"
#include "dt/regions.hpp"
#include "sim/board_tree.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint64_t base = 0x8100'0000; // the simulated board has 64 MiB from 0x80000000 on
constexpr std::uint64_t area = 1u << 20;

Blob with_memory_like_node(const char* parent, const char* name, std::uint32_t begin) {
    Blob blob = with_room(make_board_tree({}));
    void* tree = blob.data();
    int above = fdt_path_offset(tree, parent);
    if (above < 0) above = fdt_add_subnode(tree, 0, parent + 1);
    REQUIRE(above >= 0);
    if (above > 0) {
        REQUIRE(fdt_setprop_u32(tree, above, "#address-cells", 1) == 0);
        REQUIRE(fdt_setprop_u32(tree, above, "#size-cells", 1) == 0);
        REQUIRE(fdt_setprop_empty(tree, above, "ranges") == 0);
    }
    const int node = fdt_add_subnode(tree, above, name);
    REQUIRE(node >= 0);
    if (above == 0) REQUIRE(fdt_setprop_string(tree, node, "device_type", "memory") == 0);
    const unsigned cells = above > 0 ? 1 : 2;
    std::vector<fdt32_t> reg(2 * cells);
    reg[cells - 1] = cpu_to_fdt32(begin);
    reg[2 * cells - 1] = cpu_to_fdt32(0x1000);
    REQUIRE(fdt_setprop(tree, node, "reg", reg.data(), static_cast<int>(4 * reg.size())) == 0);
    return blob;
}

std::string text(const BootError& error) {
    return error ? std::string(error.what) + ": " + error.subject : "";
}

/// What check_place() says of the place at `at`.
std::string answer(const Blob& blob, std::uint64_t at = base) {
    const Tree tree = tree_of(blob);
    MemoryMap memory;
    REQUIRE(text(list_memory(tree, memory)) == "");
    return text(check_place(tree, memory, own_memory_at(at, area)));
}

} // namespace

TEST_CASE("the hypervisor, its trace area and the guest's tree must lie in memory") {
    const Blob blob = make_board_tree({});
    const std::uint64_t end = 0x8400'0000;
    CHECK(answer(blob) == "");
    CHECK(answer(blob, end - abi::area_offset - area) == "");
    CHECK(answer(blob, end - abi::area_offset - area + page_size).find("too little memory") == 0);
    CHECK(answer(blob, 0x8000'0000 + abi::guest_tree_room) == "");
    CHECK(answer(blob, 0x8000'0000).find("too little memory") == 0);
}

TEST_CASE("reserved memory where the hypervisor lies is an error that names it") {
    const auto reserved = [](std::uint32_t begin) {
        return answer(with_memory_like_node("/reserved-memory", "firmware", begin));
    };
    const std::string wrong = "reserved memory lies where the hypervisor does: firmware";
    CHECK(reserved(base) == wrong);
    CHECK(reserved(base + abi::area_offset + area - 0x1000) == wrong);
    CHECK(reserved(base - 0x1000) == wrong); // the guest's tree
    CHECK(reserved(base - abi::guest_tree_room - 0x1000) == "");
    CHECK(reserved(base + abi::area_offset + area) == "");
}

TEST_CASE(
    "memory that the tree's header reserves is not the hypervisor's, but for the tree itself") {
    const auto reserved = [](std::uint64_t begin, std::uint64_t size) {
        Blob blob = with_room(make_board_tree({}));
        REQUIRE(fdt_add_mem_rsv(blob.data(), 0x8000'0000, 0x1000) == 0);
        REQUIRE(fdt_add_mem_rsv(blob.data(), begin, size) == 0);
        return answer(blob);
    };
    const std::string wrong = "reserved memory lies where the hypervisor does: /memreserve/";
    CHECK(reserved(base, 0x1000) == wrong);
    CHECK(reserved(0x8000'0000, 0x200'0000) == wrong);
    CHECK(reserved(base + 0x1000, ~std::uint64_t{0}) == wrong);
    CHECK(reserved(base - abi::guest_tree_room - 0x1000, 0x1000) == "");
    CHECK(reserved(base + abi::area_offset + area, 0x1000) == "");

    Blob blob = with_room(make_board_tree({}));
    const auto place = reinterpret_cast<std::uintptr_t>(blob.data());
    REQUIRE(fdt_add_mem_rsv(blob.data(), place, base + 0x1000 - place) == 0); // wraps
    CHECK(answer(blob) == "");
}

TEST_CASE("memory of disabled nodes, and empty banks, are not taken") {
    MemoryMap found;
    Blob blob = with_memory_like_node("/", "secure", 0x8600'0000);
    const int node = fdt_path_offset(blob.data(), "/secure");
    REQUIRE(fdt_setprop_string(blob.data(), node, "status", "disabled") == 0);
    CHECK(text(list_memory(tree_of(blob), found)) == "");
    CHECK(found.size() == 1);

    const auto cells = [](std::uint32_t cell) { return cpu_to_fdt32(cell); };
    const fdt32_t banks[] = {0, cells(0x9000'0000), 0, 0, 0, cells(0xa000'0000), 0, cells(0x1000)};
    REQUIRE(fdt_delprop(blob.data(), node, "status") == 0);
    REQUIRE(fdt_setprop(blob.data(), fdt_path_offset(blob.data(), "/secure"), "reg", banks,
                        sizeof banks) == 0);
    found.clear();
    CHECK(text(list_memory(tree_of(blob), found)) == "");
    REQUIRE(found.size() == 2);
    CHECK(found[0].begin == 0xa000'0000);
    CHECK(found[0].end == 0xa000'1000);
}

TEST_CASE("memory nodes that overlap are an error that names the second one") {
    const auto memory = [](std::uint32_t begin) {
        MemoryMap found;
        const Blob blob = with_memory_like_node("/", "more", begin);
        return text(list_memory(tree_of(blob), found));
    };
    const std::string wrong = "two memory ranges overlap, the second one in: ";
    CHECK(memory(0x8400'0000) == "");
    CHECK(memory(0x8000'0000).find(wrong) == 0);
    CHECK(memory(0x83ff'f000).find(wrong) == 0);
}
