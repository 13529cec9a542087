// What Hyp's own table maps of memory that is not the hypervisor's.
#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "dt/regions.hpp"
#include "sim/judge.hpp"

#include <libfdt.h>
#include <optional>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

using Cells = std::vector<std::uint32_t>;

void set_cells(Blob& blob, int node, const char* name, const Cells& cells) {
    std::vector<fdt32_t> raw;
    for (const std::uint32_t cell : cells) raw.push_back(cpu_to_fdt32(cell));
    REQUIRE(fdt_setprop(blob.data(), node, name, raw.data(), static_cast<int>(4 * raw.size())) ==
            0);
}

/// A tree with /reserved-memory of these numbers of cells; `ranges`, if there are any.
struct Reserved {
    Blob blob;
    int node;

    explicit Reserved(std::uint32_t address_cells = 2, std::uint32_t size_cells = 2,
                      std::optional<Cells> ranges = Cells{})
        : blob(with_room(make_board_tree({}), 16 * 1024)),
          node(fdt_add_subnode(blob.data(), 0, "reserved-memory")) {
        REQUIRE(node >= 0);
        if (ranges) set_cells(blob, node, "ranges", *ranges);
        set_cells(blob, node, "#size-cells", {size_cells});
        set_cells(blob, node, "#address-cells", {address_cells});
    }
    Reserved& child(const char* name, const Cells& reg, bool no_map = true,
                    const char* status = nullptr) {
        const int child = fdt_add_subnode(blob.data(), node, name);
        REQUIRE(child >= 0);
        if (status != nullptr)
            REQUIRE(fdt_setprop_string(blob.data(), child, "status", status) == 0);
        if (!reg.empty()) set_cells(blob, child, "reg", reg);
        if (no_map) REQUIRE(fdt_setprop(blob.data(), child, "no-map", nullptr, 0) == 0);
        return *this;
    }
    RigOptions options() const {
        RigOptions o;
        o.blob = blob;
        return o;
    }
    std::string listed() const {
        MemoryMap no_map;
        const BootError error = list_no_map(tree_of(blob), no_map);
        if (error) return std::string(error.what) + ": " + error.subject;
        std::ostringstream text;
        for (const Range& range : no_map)
            text << std::hex << range.begin << "-" << range.end << " ";
        return text.str();
    }
};

/// Boots, and gives Hyp's memory type of an address: nothing if it is not mapped.
class Booted {
public:
    explicit Booted(RigOptions options) : rig(options) {
        rig.program(0).end();
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(rig.simulation.cores[0].ended);
    }
    std::optional<std::uint64_t> type(std::uint64_t address) {
        const Translation leaf = rig.simulation.hyp_leaf(address);
        if (!leaf.valid()) return {};
        return rig.simulation.hyp_memory_type(leaf);
    }
    Rig rig;
};

constexpr std::uint64_t uncached = 0x44, device = 0x04;

std::string refusal(const RigOptions& options) {
    Rig rig(options);
    rig.run();
    CHECK(!rig.simulation.cores[0].ended);
    return rig.text();
}

} // namespace

TEST_CASE("Hyp caches nothing of the guest's memory, nor the boot loader's tree in it") {
    for (const std::uint32_t tree : {0x8100'0000u, 0x82e0'0000u}) {
        RigOptions options;
        options.boot_tree = tree;
        Booted booted(options);
        const Machine& machine = *booted.rig.machine;
        unsigned pages = 0;
        for (const Range& range : machine.guest_memory)
            for (std::uint64_t at = range.begin; at < range.end; at += page_size, ++pages)
                if (booted.type(at) != uncached) FAIL("page " << std::hex << at);
        CHECK(pages > 1000);
    }
}

TEST_CASE(
    "memory that is not to be mapped is in no table of Hyp's, in whatever form a tree says so") {
    CHECK(Reserved()
              .child("a@80700000", {0, 0x8070'0000, 0, 0x1000, 0, 0x8080'0800, 0, 0x1000})
              .listed() == "80700000-80701000 80800000-80802000 "); // several, and whole pages
    CHECK(Reserved(1, 1).child("a@80700000", {0x8070'0000, 0x1000}).listed() ==
          "80700000-80701000 "); // cells of its own
    CHECK(Reserved(1, 1, Cells{0x10'0000, 0, 0x8070'0000, 0x10'0000})
              .child("a@100000", {0x10'0000, 0x1000})
              .listed() == "80700000-80701000 "); // translated
    CHECK(Reserved(2, 2, std::nullopt).child("a@80700000", {0, 0x8070'0000, 0, 0x1000}).listed() ==
          "80700000-80701000 "); // no `ranges`
    CHECK(Reserved().child("a@80700000", {0, 0x8070'0000, 0, 0x1000}, false).listed() == "");
    CHECK(Reserved().child("dynamic", {}).listed() == ""); // where, the guest decides
    CHECK(Reserved().child("a@80700000", {0, 0x8070'0000, 0, 0x1000}, true, "disabled").listed() ==
          "80700000-80701000 ");
    CHECK(Reserved().child("a@0", {0, 0x8070'0000, 0, 0, 0, 0x8090'0000, 0, 0x1000}).listed() ==
          "80900000-80901000 "); // an empty entry hides none behind it
    CHECK(Reserved().child("a@100000000", {1, 0, 0, 0x1000, 0, 0xffff'f000, 1, 0}).listed() ==
          "fffff000-100000000 "); // above 4 GiB nothing is mapped
    Reserved many;
    for (unsigned n = 0; n < 40; ++n)
        many.child(("a@" + std::to_string(n)).c_str(), {0, 0x8070'0000 + 0x2000 * n, 0, 0x1000});
    CHECK(many.listed().find("too many ranges of memory with no-map: a@") == 0);
}

TEST_CASE("no-map memory is left out of Hyp's table, and the guest has it") {
    Booted booted(Reserved()
                      .child("secure@80700800", {0, 0x8070'0800, 0, 0x1000})
                      .child("shared@80900000", {0, 0x8090'0000, 0, 0x1000}, false)
                      .child("outside@60000000", {0, 0x6000'0000, 0, 0x1000})
                      .options());
    CHECK(booted.type(0x806f'f000) == uncached);
    CHECK(!booted.type(0x8070'0000));
    CHECK(!booted.type(0x8070'1000));
    CHECK(booted.type(0x8070'2000) == uncached);
    CHECK(booted.type(0x8090'0000) == uncached);
    CHECK(!booted.type(0x6000'0000));
    CHECK(lpae::is_valid(booted.rig.machine->normal(0).lookup(0x8070'0000)));
}

TEST_CASE("no-map memory that is traced is mapped as a device, where nothing is speculated") {
    RigOptions options = Reserved().child("dsp@80700000", {0, 0x8070'0000, 0, 0x1000}).options();
    void* blob = options.blob.data();
    REQUIRE(fdt_setprop_string(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::trace,
                               "/reserved-memory/dsp@80700000") == 0);
    CHECK(Booted(options).type(0x8070'0000) == device);
}

TEST_CASE("code in no-map memory is not read by Hyp, and one in all other memory is") {
    const bool no_map = GENERATE(true, false);
    constexpr std::uint32_t place = 0x8070'0000;
    Rig rig(Reserved().child("code@80700000", {0, place, 0, 0x1000}, no_map).options());
    rig.program(0).mov(0, at::wide).mov(1, 1).mov(2, 2).mov(12, place).bx(12);
    Code(rig.simulation.ram, place).stm(0, 0x0006).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == (no_map ? 0 : 2));
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == (no_map ? 1 : 0));
    if (no_map) CHECK(faults[0].value == static_cast<std::uint64_t>(abi::FaultReason::undecodable));
}

TEST_CASE("a tree of the boot loader's or the guest's in no-map memory is refused in a sentence") {
    CHECK(refusal(Reserved().child("a@81000000", {0, 0x8100'0000, 0, 0x1000}).options())
              .find("stop: the device tree lies in memory with no-map") != std::string::npos);
    RigOptions options = Reserved().child("a@81100000", {0, 0x8110'0000, 0, 0x1000}).options();
    void* blob = options.blob.data();
    REQUIRE(fdt_setprop_u32(blob, fdt_path_offset(blob, "/chosen"), abi::chosen::guest_tree,
                            0x8110'0000) == 0);
    CHECK(refusal(options).find("stop: mmioscope,guest-tree lies in memory with no-map") !=
          std::string::npos);
    CHECK(refusal(Reserved().child("a@82000000", {0, 0x8200'0000, 0, 0x1000}).options())
              .find("stop: reserved memory lies where the hypervisor does") != std::string::npos);
}
