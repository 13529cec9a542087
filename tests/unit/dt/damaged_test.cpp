// Trees that a boot loader damaged: all code that reads or rewrites one returns a result or an
// error, and never touches anything outside the tree (ASan watches).
#include "catch_2_or_3.hpp"
#include "dt/board.hpp"
#include "dt/config.hpp"
#include "dt/guest_tree.hpp"
#include "dt/regions.hpp"
#include "sim/board_tree.hpp"
#include "sim/random.hpp"
#include "unit/dt/against_libfdt.hpp"

#include <cstring>
#include <libfdt.h>
#include <memory>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// Reads `bytes` like start/; true if the tree was accepted and could be rewritten.
bool read_all(const Blob& bytes) {
    if (bytes.size() < FDT_V1_SIZE) return false;
    // Exactly as long as the tree, so that ASan detects the first byte beyond it.
    const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    Tree tree;
    if (tree.read(copy.get(), bytes.size())) return false;
    REQUIRE(difference_from_libfdt(tree) == "");
    auto regions = std::make_unique<RegionTable>();
    auto map = std::make_unique<RegionMap>();
    MemoryMap memory;
    Config config;
    int beyond_reach = -1;
    if (list_regions(tree, *regions, beyond_reach) || !map->build(*regions)) return false;
    if (read_config(tree, config) || list_memory(tree, memory)) return false;
    mark_memory(*regions, memory);
    if (carve(memory, {0x8200'0000, 0x8300'0000})) return false;
    if (select_traced(tree, *regions, *map)) return false;
    Board board{};
    if (read_board(tree, board)) return false;
    std::vector<std::byte> out(bytes.size() + 1024);
    if (make_guest_tree(tree, memory, config.modules,
                        std::span(&board.uart_node, board.uart_node < 0 ? 0u : 1u), out.data(),
                        out.size()))
        return false;
    REQUIRE(fdt_check_full(out.data(), out.size()) == 0);
    return true;
}

const TreeOptions everything{
    .cpus = 2, .engine = "shadow", .policy = "drop", .trace = {"all", "!fifo", "0x1c140000+0x8"}};

} // namespace

TEST_CASE("an undamaged tree is read and rewritten") {
    CHECK(read_all(make_board_tree(everything)));
}

// -12 leads from a property's value back to its token.
TEST_CASE("a property with a negative length is refused") {
    Blob blob = make_board_tree(everything);
    const int node = fdt_path_offset(blob.data(), "/chosen");
    const int at = fdt_first_property_offset(blob.data(), node);
    REQUIRE(at > 0);
    const std::size_t length = fdt_off_dt_struct(blob.data()) + static_cast<std::size_t>(at) + 4;
    const fdt32_t back = cpu_to_fdt32(static_cast<std::uint32_t>(-12));
    std::memcpy(blob.data() + length, &back, sizeof back);
    CHECK(std::string(Tree().read(blob.data(), blob.size()).subject) == "a property has no end");
}

TEST_CASE("a tree cut at any place is refused") {
    const Blob whole = make_board_tree(everything);
    for (std::size_t size = 0; size < whole.size(); size += 4) {
        CAPTURE(size);
        REQUIRE(!read_all(Blob(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
        if (size < FDT_V1_SIZE) continue;
        // Cut off, with the right size in its header.
        Blob cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        fdt_set_totalsize(cut.data(), static_cast<std::uint32_t>(size));
        read_all(cut);
    }
}

TEST_CASE("bytes flipped anywhere never do harm") {
    const Blob whole = make_board_tree(everything);
    unsigned accepted = 0;
    for (std::uint64_t seed = 1; seed <= seeds(3000); ++seed) {
        Random random(seed);
        Blob damaged = whole;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
            damaged[random.below(damaged.size())] ^= static_cast<std::byte>(1 + random.below(255));
        CAPTURE(seed);
        accepted += read_all(damaged);
    }
    CHECK(accepted > 0); // not all damage was refused at the start
}

TEST_CASE("words of properties replaced by extremes never do harm") {
    const Blob whole = make_board_tree(everything);
    const auto structure = fdt_off_dt_struct(whole.data());
    const auto size = fdt_size_dt_struct(whole.data());
    for (const std::uint32_t extreme : {0u, 1u, 2u, 0x7fff'ffffu, 0x8000'0000u, 0xffff'ffffu})
        for (std::uint32_t offset = structure; offset + 4 <= structure + size; offset += 4) {
            Blob damaged = whole;
            fdt32_st(damaged.data() + offset, extreme);
            CAPTURE(extreme, offset);
            read_all(damaged);
        }
}
