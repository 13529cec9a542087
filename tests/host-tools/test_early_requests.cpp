// The commands of --at-start, resolved by the device tree before anything starts.
#include "../early_cases.hpp"
#include "abi/chosen.hpp"
#include "run/boot_tree.hpp"
#include "run/early_requests.hpp"
#include "system/error.hpp"
#include "tree/device_names.hpp"
#include "trees.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

using namespace mmioscope;
using namespace mmioscope::run;
using namespace mmioscope::test;
using abi::control::Command;
using Asks = std::vector<control::Ask>;

namespace {

/// Writes a tree node by node.
class Writer {
public:
    Writer() : tree_(4096) {
        ok(fdt_create(tree_.data(), static_cast<int>(tree_.size())));
        ok(fdt_finish_reservemap(tree_.data()));
    }
    Writer& begin(const char* name) {
        ok(fdt_begin_node(tree_.data(), name));
        return *this;
    }
    Writer& end() {
        ok(fdt_end_node(tree_.data()));
        return *this;
    }
    Writer& cells(const char* name, std::initializer_list<std::uint32_t> values) {
        std::vector<fdt32_t> raw;
        for (const std::uint32_t value : values) {
            raw.push_back(cpu_to_fdt32(value));
        }
        ok(fdt_property(tree_.data(), name, raw.data(), static_cast<int>(4 * raw.size())));
        return *this;
    }
    Writer& bus(std::uint32_t address, std::uint32_t size) {
        return cells("#address-cells", {address}).cells("#size-cells", {size});
    }
    Writer& text(const char* name, const std::string& value) {
        ok(fdt_property(tree_.data(), name, value.c_str(), static_cast<int>(value.size() + 1)));
        return *this;
    }
    Bytes finish() {
        ok(fdt_finish(tree_.data()));
        tree_.resize(fdt_totalsize(tree_.data()));
        return tree_;
    }

private:
    static void ok(int result) { REQUIRE(result == 0); }
    Bytes tree_;
};

/// Like vexpress-a15: chip selects before the motherboard's addresses, followed by a bus with other
/// cells; and whatever else a tree may have.
Bytes board_tree() {
    Writer w;
    w.begin("").bus(2, 2);
    w.begin("aliases").text("serial0", "/bus@8000000/motherboard/iofpga/uart@90000").end();
    w.begin("memory@80000000").text("device_type", "memory");
    w.cells("reg", {0, 0x8000'0000, 0, 0x1000'0000}).end();
    w.begin("gic@2c001000").cells("reg", {0, 0x2c00'1000, 0, 0x1000, 0, 0x2c00'2000, 0, 0x100});
    w.end();
    w.begin("high@100000000").cells("reg", {1, 0, 0, 0x1000}).end();
    w.begin("edge@fffff000").cells("reg", {0, 0xffff'f000, 0, 0x1000}).end();
    w.begin("cpus").bus(1, 0).begin("cpu@0").cells("reg", {0}).end().end();
    w.begin("bus@8000000").bus(2, 1);
    w.cells("ranges", {2, 0, 0, 0x1800'0000, 0x400'0000, 3, 0, 0, 0x1c00'0000, 0x400'0000});
    w.begin("motherboard").bus(2, 1).cells("ranges", {});
    w.begin("ethernet@2,02000000").cells("reg", {2, 0x200'0000, 0x1'0000}).end();
    w.begin("nowhere@5,0").cells("reg", {5, 0, 0x1000}).end();
    w.begin("iofpga").bus(1, 1).cells("ranges", {0, 3, 0, 0x20'0000});
    w.begin("uart@90000").cells("reg", {0x9'0000, 0x1000}).end();
    w.begin("i2c@30000").bus(1, 0).cells("reg", {0x3'0000, 0x1000});
    w.begin("codec@39").cells("reg", {0x39}).end().end();
    w.end().end().end().end();
    return w.finish();
}

std::string error_of(const std::vector<std::string>& commands) {
    try {
        early_requests(commands, board_tree());
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
        return error.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("devices have the addresses to which the buses of their tree translate") {
    std::string found;
    for (const abi::RegionEntry& region : tree_devices(board_tree()).regions) {
        const std::string_view path = tree::region_path(region);
        found += fmt::format("{}[{}] {:#x}+{:#x}\n", path.substr(path.rfind('/') + 1),
                             region.reg_index, region.base, region.size);
    }
    CHECK(found == "gic@2c001000[0] 0x2c001000+0x1000\n"
                   "gic@2c001000[1] 0x2c002000+0x100\n"
                   "edge@fffff000[0] 0xfffff000+0x1000\n"
                   "ethernet@2,02000000[0] 0x1a000000+0x10000\n"
                   "uart@90000[0] 0x1c090000+0x1000\n"
                   "i2c@30000[0] 0x1c030000+0x1000\n");
}

TEST_CASE("words of --at-start become requests, in order") {
    CHECK(early_requests({}, board_tree()).empty());
    CHECK(early_requests({"deselect serial0 gic@2c001000", "mark 5",
                          "trigger start address uart@90000+0x30 direction w count 2", "sample 4"},
                         board_tree()) == Asks{{Command::deselect_range, 0x1c09'0000, 0x1000},
                                               {Command::deselect_range, 0x2c00'1000, 0x1000},
                                               {Command::deselect_range, 0x2c00'2000, 0x100},
                                               {Command::marker, 5},
                                               {Command::no_trigger},
                                               {Command::trigger_addresses, 0x1c09'0030, 4},
                                               {Command::trigger_directions, 2},
                                               {Command::trigger_start, 2},
                                               {Command::sample, 4}});
    CHECK(early_requests({"  filter   cpus 1  "}, board_tree()) == Asks{{Command::filter_cpus, 2}});
}

TEST_CASE("invalid words of --at-start are refused in one line") {
    CHECK(error_of({"mark 1", "deselect toaster"}) ==
          "--at-start 'deselect toaster': there is no device 'toaster'; devices: edge@fffff000, "
          "ethernet@2,02000000, gic@2c001000, i2c@30000, serial0");
    CHECK(error_of({"begin"}) == "--at-start 'begin': 'begin' is not a command (see --help)");
    CHECK(error_of({""}).starts_with("--at-start '': a command expected"));
    CHECK(error_of({"select codec@39"}).find("there is no device 'codec@39'") != std::string::npos);
    CHECK(error_of({"trigger start address gic@2c001000"}).find("has 2 ranges of addresses") !=
          std::string::npos);
    for (const char* later : {"status", "statistics", "flush", "snapshot"}) {
        CHECK(error_of({later}) == fmt::format("--at-start '{}': this command works only while the "
                                               "guest runs",
                                               later));
    }
    CHECK(early_requests(std::vector<std::string>(32, "mark 1"), board_tree()).size() == 32);
    CHECK(error_of(std::vector<std::string>(33, "mark 1")) ==
          "--at-start 33 requests are too many, at most 32 (a device counts once for each of its "
          "ranges)");
}

TEST_CASE(
    "requests take three cells each in the hypervisor's tree, and no property if there are none") {
    BootTree what{};
    what.memory = 512u << 20;
    what.kernel = {0x8300'0000, 1000};
    const auto property = [&what](int& length) {
        static Bytes tree;
        tree = compose_tree(board_tree(), find_board("vexpress-a15"), what);
        return static_cast<const fdt32_t*>(fdt_getprop(
            tree.data(), fdt_path_offset(tree.data(), "/chosen"), abi::chosen::requests, &length));
    };
    int length = 0;
    CHECK(property(length) == nullptr);
    what.requests = {{Command::trigger_values, 0xffff'0000, 0x1234'0000}, {Command::start}};
    const fdt32_t* cells = property(length);
    REQUIRE(length == 24);
    const std::uint32_t expected[] = {23, 0xffff'0000, 0x1234'0000, 1, 0, 0};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(fdt32_ld(cells + i) == expected[i]);
    }
}

TEST_CASE("requests for U-Boot are one line") {
    CHECK(
        property_text(early_requests({"trigger start address serial0+0xc direction w", "mark 9"},
                                     board_tree())) ==
        "mmioscope,requests \"<0x1a 0x0 0x0 0x16 0x1c09000c 0x4 0x15 0x2 0x0 0x18 0x1 0x0 0xf 0x9 "
        "0x0>\"");
}

// The other half is tests/unit/control/early_requests_test.cpp.
TEST_CASE("--at-start accepts what any boot accepts, and refuses what every boot refuses") {
    const Bytes tree = board_tree();
    unsigned accepted = 0;
    unsigned refused = 0;
    for (const EarlyCase& one : early_cases(1, {0x1c09'0000, 0x2c00'1000, 0xffff'f000})) {
        if (one.words.empty()) {
            continue;
        }
        INFO(one.words);
        const abi::control::Status boots = check_early(one.request);
        const auto error = error_of({one.words});
        const std::string reason = error.substr(std::min(error.size(), error.find("': ") + 3));
        const bool missing = reason == abi::control::early_reason(abi::control::Status::no_device);
        if (boots != abi::control::Status::done) {
            REQUIRE(error != "accepted");
            REQUIRE(!missing);
            ++refused;
        } else if (error == "accepted") {
            const Asks asks = early_requests({one.words}, tree);
            REQUIRE(
                std::ranges::count(asks, control::Ask{one.request.command, one.request.argument[0],
                                                      one.request.argument[1]}) == 1);
            ++accepted;
        } else {
            REQUIRE(missing); // the tree says so, and words cannot
        }
    }
    CHECK(accepted > 2000);
    CHECK(refused > 2000);
}

TEST_CASE("a policy that the boot cannot change to is refused before it starts") {
    const auto error_for = [](const char* policy, run::BootPolicy boot) -> std::string {
        try {
            early_requests({std::string("policy ") + policy}, board_tree(), "", boot);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    using abi::Policy;
    CHECK(error_for("stall", {Policy::drop, false}) == "");
    CHECK(error_for("flight", {Policy::flight, false}) == "");
    CHECK(error_for("flight", {Policy::drop, false}) == "'policy flight': this cannot change");
    CHECK(error_for("drop", {Policy::flight, false}) == "'policy drop': this cannot change");
    CHECK(error_for("stall", {Policy::drop, true}) == "'policy stall': this cannot change");
    CHECK(error_of({"policy flight"}) == "accepted"); // nobody knows how the board will boot
}
