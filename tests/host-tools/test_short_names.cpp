// Names for narrow columns.
#include "catch_2_or_3.hpp"
#include "records.hpp"
#include "table/table.hpp"
#include "tree/device_names.hpp"
#include "tree_maker.hpp"
#include "view/short_tables.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

std::vector<std::byte> board_tree() {
    return make_tree([](TreeMaker& tree) {
        tree.node("aliases", [&] { tree.strings("serial0", {"/bus/serial@9000"}); });
        tree.node("intc@1000", [&] { tree.strings("compatible", {"acme,intc"}); });
        tree.node("interrupt-controller@2000",
                  [&] { tree.strings("compatible", {"arm,cortex-a15-gic"}); });
        tree.node("interrupt-controller@3000", [&] { tree.strings("compatible", {"acme,pic"}); });
        tree.node("pcie@4000", [&] { tree.strings("reg-names", {"dbi", "config"}); });
    });
}

abi::RegionEntry part(const std::string& path, std::uint16_t index) {
    abi::RegionEntry entry = region(0x1000, 0x100, path);
    entry.reg_index = index;
    return entry;
}

} // namespace

TEST_CASE("short names: aliases, nodes without their address, parts of a GIC") {
    const std::vector<abi::RegionEntry> regions = {
        part("/bus/serial@9000", 0),
        part("/bus/mmc@5000", 0),
        part("/interrupt-controller@2000", 0),
        part("/interrupt-controller@2000", 1),
        part("/bus/ethernet@6000", 0),
        part("/bus/flash@0", 0),
        part("/bus/flash@0", 1),
        part("/pcie@4000", 0),
        part("/pcie@4000", 1),
    };
    CHECK(tree::short_names(regions, board_tree()) ==
          std::vector<std::string>{"serial0", "mmc", "gic.dist", "gic.cpu", "eth", "flash",
                                   "flash[1]", "pcie.dbi", "pcie.config"});
}

TEST_CASE("short names: nodes of the same name keep what distinguishes them") {
    const std::vector<abi::RegionEntry> regions = {
        part("/one/timer@0", 0),    part("/two/timer@0", 0),
        part("/kmi@60000", 0),      part("/kmi@70000", 0),
        part("/intc@1000", 0),      part("/interrupt-controller@3000", 0),
        part("/bus/\x1b@1\x1b", 0), part("", 0)};
    CHECK(tree::short_names(regions, board_tree()) ==
          std::vector<std::string>{"one/timer@0", "two/timer@0", "kmi@60000", "kmi@70000",
                                   "intc@1000", "intc@3000", "?", "-"});
}

TEST_CASE("a table has short names in its columns of devices, and in no other") {
    using table::Look;
    const tree::ShortNames names{{"mmc@50000", "mmc"}, {"uart", "u"}, {"uart two", "second"}};
    table::Table table{{{"", "device", Look::device}, {"", "text", Look::words}},
                       {{std::string("mmc@50000"), std::string("mmc@50000")},
                        {std::string_view("mmc@50000 Clock"), std::string("")},
                        {std::string("mmc@500001"), std::string("")}}};
    table.more = [](const table::TakeRow& take) {
        take({std::string("uart two DR"), std::string("uart")}); // names may contain blanks
        take({std::string("uart DR"), std::string("")});
    };
    CHECK(view::fitted_text(table, names, 80) == "device      text\n"
                                                 "mmc         mmc@50000\n"
                                                 "mmc Clock\n"
                                                 "mmc@500001\n"
                                                 "second DR   uart\n"
                                                 "u DR\n");
    CHECK(view::fitted_text(table, names, table::unlimited) ==
          table::text(table, table::unlimited));
}
