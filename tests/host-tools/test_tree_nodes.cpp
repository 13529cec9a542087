// The nodes of a tree and their properties, compared with libfdt's view of the same tree.
#include "catch_2_or_3.hpp"
#include "registers/interrupt_names.hpp"
#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

#include <fmt/format.h>

#include <libfdt.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace mmioscope;

namespace {

/// Random nodes below the open one, `depth` levels below the root, with properties between them.
class RandomTree {
public:
    explicit RandomTree(unsigned seed) : random_(seed) {
        fdt_create(bytes_.data(), static_cast<int>(bytes_.size()));
        fdt_finish_reservemap(bytes_.data());
        fdt_begin_node(bytes_.data(), "");
        fill(seed % 7 == 0 ? 90 : 4);
        fdt_end_node(bytes_.data());
        REQUIRE(fdt_finish(bytes_.data()) == 0);
    }

    std::span<const std::byte> bytes() const {
        return std::span(bytes_).first(fdt_totalsize(bytes_.data()));
    }

private:
    void fill(unsigned levels) {
        properties();
        for (unsigned i = levels > 4 ? 1 : below(4); levels > 0 && i > 0; --i) {
            fdt_begin_node(bytes_.data(), ("n" + std::to_string(number_++)).c_str());
            fill(levels - 1);
            fdt_end_node(bytes_.data());
        }
        if (below(4) == 0) { // libfdt does not find properties after a child
            properties();
        }
    }

    void properties() {
        static constexpr std::array names{"reg", "phandle", "linux,phandle", "compatible", "x"};
        for (unsigned i = below(4); i > 0; --i) {
            const std::uint32_t words[3] = {cpu_to_fdt32(1 + below(40)), 7, below(100)};
            const std::array sizes{0, 4, 4, 4, 7, 12};
            fdt_property(bytes_.data(), names[below(names.size())], words,
                         sizes[below(sizes.size())]);
        }
    }

    std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

    std::mt19937 random_;
    unsigned number_ = 0;
    std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 16);
};

} // namespace

TEST_CASE("nodes have the properties that libfdt finds") {
    unsigned compared = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        INFO("seed " << seed);
        const RandomTree tree(seed);
        const void* const fdt = tree.bytes().data();
        const tree::TreeNodes nodes(tree.bytes());
        REQUIRE(nodes.size() > 0);
        std::map<std::uint32_t, std::size_t> phandles;
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            const std::string path = nodes.path(node);
            CHECK(nodes.find(path) == node);
            const int offset = fdt_path_offset(fdt, path.c_str());
            REQUIRE(offset >= 0);
            for (const char* const name : {"reg", "phandle", "linux,phandle", "compatible", "x"}) {
                int size = 0;
                const void* const value = fdt_getprop(fdt, offset, name, &size);
                REQUIRE(nodes.has(node, name) == (value != nullptr));
                const tree::Cells cells = nodes.cells(node, name);
                REQUIRE(cells.count() == (value == nullptr ? 0u : unsigned(size) / 4));
                for (std::size_t i = 0; i < cells.count(); ++i) {
                    CHECK(cells[i] == fdt32_ld(static_cast<const fdt32_t*>(value) + i));
                    ++compared;
                }
            }
            if (const std::uint32_t phandle = fdt_get_phandle(fdt, offset); phandle != 0) {
                phandles.emplace(phandle, node);
            }
        }
        for (std::uint32_t phandle = 0; phandle < 45; ++phandle) {
            const auto known = phandles.find(phandle);
            CHECK(nodes.find_phandle(phandle) ==
                  (known == phandles.end() ? tree::TreeNodes::none : known->second));
        }
    }
    CHECK(compared > 1000);
}

TEST_CASE("a tree with too many levels is read up to the limit") {
    const RandomTree tree(0);
    const tree::TreeNodes nodes(tree.bytes());
    CHECK(nodes.size() == 64);
}

TEST_CASE("no part of a tree has more entries than any device is to be compared with") {
    std::vector<std::byte> bytes(4 << 20);
    void* const fdt = bytes.data();
    const std::vector<char> zeros(64 << 10); // as strings or cells
    fdt_create(fdt, static_cast<int>(bytes.size()));
    fdt_finish_reservemap(fdt);
    fdt_begin_node(fdt, "");
    fdt_begin_node(fdt, "aliases");
    for (unsigned i = 0; i < 1500; ++i) {
        fdt_property_string(fdt, fmt::format("a{}", i).c_str(), "/bus/device");
    }
    fdt_end_node(fdt);
    fdt_begin_node(fdt, "bus");
    fdt_property(fdt, "ranges", nullptr, 0);
    fdt_property_u32(fdt, "#interrupt-cells", 3);
    fdt_property_u32(fdt, "phandle", 1);
    fdt_property_string(fdt, "compatible", "arm,gic-400");
    fdt_begin_node(fdt, "device");
    fdt_property_u32(fdt, "interrupt-parent", 1);
    for (const char* const name : {"reg", "interrupts", "compatible"}) {
        fdt_property(fdt, name, zeros.data(), static_cast<int>(zeros.size()));
    }
    fdt_end_node(fdt);
    fdt_end_node(fdt);
    for (unsigned i = 0; i < 10'000; ++i) {
        fdt_begin_node(fdt, fmt::format("n{}", i).c_str());
        fdt_end_node(fdt);
    }
    fdt_end_node(fdt);
    fdt_finish(fdt);
    REQUIRE(tree::tree_is_sound(bytes));
    const tree::TreeNodes nodes(bytes);
    const std::size_t device = nodes.find("/bus/device");
    REQUIRE(device != tree::TreeNodes::none);
    CHECK(nodes.size() == 8192);
    CHECK(nodes.reg(device).size() == 1024);
    CHECK(nodes.strings(device, "compatible").size() == 64);
    CHECK(registers::interrupts_of(nodes, device).size() == 256);
    CHECK(tree::aliases(bytes).size() == tree::most_aliases);
}
