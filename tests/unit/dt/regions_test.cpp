#include "dt/regions.hpp"

#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <cstring>
#include <libfdt.h>
#include <memory>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

struct Selection {
    Blob blob;
    std::unique_ptr<RegionTable> regions = std::make_unique<RegionTable>();
    std::unique_ptr<RegionMap> map = std::make_unique<RegionMap>();
    BootError error;

    explicit Selection(std::vector<std::string> trace)
        : blob(make_board_tree({.trace = std::move(trace)})) {
        const Tree tree = tree_of(blob);
        int beyond_reach = 0;
        REQUIRE(!list_regions(tree, *regions, beyond_reach));
        REQUIRE(beyond_reach < 0);
        REQUIRE(map->build(*regions));
        error = select_traced(tree, *regions, *map);
    }
    bool traced(std::uint64_t address) const {
        const Span* span = map->find({address});
        return span != nullptr && span->traced();
    }
};

std::string error_of(std::vector<std::string> trace) {
    const Selection s(std::move(trace));
    return s.error ? std::string(s.error.what) + ": " + s.error.subject : "";
}

} // namespace

TEST_CASE("by default every device is traced, except memory-like ones") {
    const Selection s({});
    REQUIRE(!s.error);
    for (const std::uint32_t a : {at::sysreg, at::console, at::fifo, at::gadget, at::neighbour,
                                  at::wide + 0x2fffu, at::hidden, at::gic, at::gic + 0x1000u})
        CHECK(s.traced(a));
    CHECK(!s.traced(at::sram));
    CHECK(s.map->find({at::sram}) != nullptr);
    CHECK(s.map->find({at::unnamed}) == nullptr);
}

TEST_CASE("devices are chosen by path, alias and bytes, later entries win") {
    const std::string iofpga = "/bus@8000000/motherboard/iofpga@3,00000000";
    CHECK(Selection({iofpga + "/fifo@130000"}).traced(at::fifo));
    CHECK(!Selection({iofpga + "/fifo@130000"}).traced(at::console));
    CHECK(Selection({"fifo"}).traced(at::fifo));
    CHECK(!Selection({"all", "!fifo"}).traced(at::fifo));
    CHECK(Selection({"all", "!fifo", "fifo"}).traced(at::fifo));
    CHECK(!Selection({"all", "none"}).traced(at::console));
    CHECK(!Selection({"!all"}).traced(at::console));
    const Selection bytes({"0x1c130010+0x4"});
    CHECK(!bytes.traced(at::fifo + 0xf));
    CHECK(bytes.traced(at::fifo + 0x10));
    CHECK(bytes.traced(at::fifo + 0x13));
    CHECK(!bytes.traced(at::fifo + 0x14));
    CHECK(Selection({"0x18000000+0x1000"}).traced(at::sram)); // traced when named
    CHECK(Selection({"/interrupt-controller@2c001000"}).traced(at::gic + 0x1000)); // every `reg`
}

TEST_CASE("a choice that matches no device is an error that names it") {
    CHECK(error_of({"all", "fifoo"}) == "unknown device to trace: fifoo");
    CHECK(error_of({"!/nothing"}) == "unknown device to trace: !/nothing");
    CHECK(error_of({"/cpus"}) == "unknown device to trace: /cpus");
    CHECK(error_of({"0x1c180000+0x1000"}) ==
          "no device at the address to trace: 0x1c180000+0x1000");
    CHECK(error_of({"0x1c130000+"}) == "unknown device to trace: 0x1c130000+");
    CHECK(error_of({"0x1c130000+0x12345678901"}) ==
          "unknown device to trace: 0x1c130000+0x12345678901");
    CHECK(error_of({""}) == "unknown device to trace: ");
}

TEST_CASE("regions have their path, index and flags") {
    const Selection s({});
    const Span* hidden = s.map->find({at::hidden});
    REQUIRE(hidden != nullptr);
    const abi::RegionEntry& region = (*s.regions)[hidden->region];
    CHECK(std::string(region.path) == "/bus@8000000/motherboard/iofpga@3,00000000/hidden@170000");
    CHECK(region.flags == abi::region_disabled);
    CHECK((*s.regions)[s.map->find({at::gic + 0x1000})->region].reg_index == 1);
    CHECK((*s.regions)[s.map->find({at::sram})->region].flags == abi::region_memory);
}

TEST_CASE("an entry of reg that is empty, or on no bus of the CPU's, hides none behind it") {
    Blob blob = with_room(make_board_tree({}));
    const int bus = fdt_path_offset(blob.data(), "/bus@8000000/motherboard/iofpga@3,00000000");
    const int node = fdt_add_subnode(blob.data(), bus, "holes");
    REQUIRE(node >= 0);
    fdt32_t reg[] = {0x18'0000, 0, 0xf000'0000, 0x1000, 0x19'0000, 0x1000};
    for (fdt32_t& cell : reg) cell = cpu_to_fdt32(cell);
    REQUIRE(fdt_setprop(blob.data(), node, "reg", reg, sizeof reg) == 0);
    const auto regions = std::make_unique<RegionTable>();
    int beyond_reach = 0;
    REQUIRE(!list_regions(tree_of(blob), *regions, beyond_reach));
    std::vector<unsigned> found;
    for (const abi::RegionEntry& region : *regions)
        if (std::strstr(region.path, "holes") != nullptr) found.push_back(region.reg_index);
    CHECK(found == std::vector{2u});
}

TEST_CASE("a list to trace that is no list of strings is refused") {
    for (const std::string& list :
         {std::string(), std::string("all"), std::string("all\0fifo", 8)}) {
        CAPTURE(list);
        Selection s({});
        Blob blob = with_room(s.blob);
        REQUIRE(fdt_setprop(blob.data(), fdt_path_offset(blob.data(), "/chosen"),
                            abi::chosen::trace, list.data(), static_cast<int>(list.size())) == 0);
        const BootError error = select_traced(tree_of(blob), *s.regions, *s.map);
        CHECK(std::string(error ? error.what : "") == "mmioscope,trace is no list of strings");
    }
}

TEST_CASE("a PCI host's windows are regions: ports and memory, not what is above 4 GiB") {
    Blob blob = with_room(make_board_tree({}), 8 * 1024);
    const auto add = [&blob](const char* parent, const char* name,
                             const std::vector<std::uint32_t>& cells) {
        const int node = fdt_add_subnode(blob.data(), fdt_path_offset(blob.data(), parent), name);
        REQUIRE(node >= 0);
        std::vector<fdt32_t> ranges;
        for (const std::uint32_t cell : cells) ranges.push_back(cpu_to_fdt32(cell));
        REQUIRE(fdt_setprop(blob.data(), node, "ranges", ranges.data(),
                            static_cast<int>(4 * ranges.size())) == 0);
        REQUIRE(fdt_setprop_u32(blob.data(), node, "#size-cells", 2) == 0);
        REQUIRE(fdt_setprop_u32(blob.data(), node, "#address-cells", 3) == 0);
        REQUIRE(fdt_setprop_string(blob.data(), node, "device_type", "pci") == 0);
        return node;
    };
    const int host =
        add("/", "pcie@40000000",
            {0x0000'0000, 0, 0,           0, 0x4100'0000, 0, 0x10'0000,   // configuration
             0x0100'0000, 0, 0,           0, 0x4200'0000, 0, 0x1'0000,    // ports
             0x0200'0000, 0, 0x1000'0000, 0, 0x5000'0000, 0, 0x1000'0000, // memory
             0x4200'0000, 0, 0x2000'0000, 0, 0x6000'0000, 0, 0x1000'0000, // prefetchable
             0x0300'0000, 1, 0,           1, 0,           1, 0,
             0x0200'0000}); // above; a rest
    const fdt32_t reg[] = {0, cpu_to_fdt32(0x4000'0000), 0, cpu_to_fdt32(0x1000)};
    REQUIRE(fdt_setprop(blob.data(), host, "reg", reg, sizeof reg) == 0);
    add("/pcie@40000000", "pci@0", {0x0200'0000, 0, 0, 0x0200'0000, 0, 0, 0, 0x1000}); // a bridge

    const Tree tree = tree_of(blob);
    auto regions = std::make_unique<RegionTable>();
    int beyond_reach = -1;
    REQUIRE(!list_regions(tree, *regions, beyond_reach));
    std::string text;
    for (const abi::RegionEntry& region : *regions)
        if (std::strncmp(region.path, "/pcie@40000000", 14) == 0)
            text += region.path + std::to_string(region.reg_index) + " " +
                    std::to_string(region.base >> 24) + "+" + std::to_string(region.size >> 12) +
                    ((region.flags & abi::region_memory) != 0 ? " memory\n" : "\n");
    CHECK(text == "/pcie@400000000 64+1\n"
                  "/pcie@400000002 66+16\n"
                  "/pcie@400000003 80+65536\n"
                  "/pcie@400000004 96+65536 memory\n");

    CHECK(beyond_reach == tree.find("/pcie@40000000"));

    auto map = std::make_unique<RegionMap>();
    REQUIRE(map->build(*regions));
    const int chosen = fdt_path_offset(blob.data(), "/chosen");
    REQUIRE(fdt_setprop_string(blob.data(), chosen, abi::chosen::trace, "/pcie@40000000") == 0);
    REQUIRE(!select_traced(tree_of(blob), *regions, *map));
    for (const std::uint64_t address : {0x4000'0000u, 0x4200'0000u, 0x5fff'ffffu, 0x6000'0000u})
        CHECK(map->find({address})->traced());
}

TEST_CASE("more devices than the table holds are an error that names the first one without room") {
    Blob blob = with_room(make_board_tree({}), 64 * 1024);
    std::vector<fdt32_t> reg;
    for (std::uint32_t i = 0; i < 300; ++i)
        for (const std::uint32_t cell : {0u, 0x4000'0000u + 0x1000 * i, 0u, 0x1000u})
            reg.push_back(cpu_to_fdt32(cell));
    REQUIRE(fdt_setprop(blob.data(), fdt_path_offset(blob.data(), "/interrupt-controller@2c001000"),
                        "reg", reg.data(), static_cast<int>(4 * reg.size())) == 0);
    auto regions = std::make_unique<RegionTable>();
    int beyond_reach = -1;
    const BootError error = list_regions(tree_of(blob), *regions, beyond_reach);
    REQUIRE(error);
    CHECK(std::string(error.subject) == "interrupt-controller@2c001000");
}

TEST_CASE("the hypervisor's memory is carved out of the guest's memory") {
    const auto carved = [](std::vector<Range> parts, Range taken) {
        MemoryMap memory;
        for (const Range& r : parts) REQUIRE(memory.push_back(r));
        REQUIRE(!carve(memory, taken));
        std::string text;
        for (const Range& r : memory)
            text += std::to_string(r.begin) + "-" + std::to_string(r.end) + " ";
        return text;
    };
    CHECK(carved({{0, 100}}, {40, 60}) == "0-40 60-100 ");
    CHECK(carved({{0, 100}}, {0, 60}) == "60-100 ");
    CHECK(carved({{0, 100}}, {60, 100}) == "0-60 ");
    CHECK(carved({{0, 100}}, {0, 100}) == "");
    CHECK(carved({{0, 100}, {200, 300}}, {50, 250}) == "0-50 250-300 ");
    CHECK(carved({{0, 10}, {20, 30}, {40, 50}}, {5, 45}) == "0-5 45-50 ");
    CHECK(carved({{0, 100}}, {100, 200}) == "0-100 ");
    MemoryMap full;
    for (std::uint64_t i = 0; i < MemoryMap::capacity(); ++i)
        REQUIRE(full.push_back({1000 * i, 1000 * i + 999}));
    CHECK(carve(full, {10, 20}));
}
