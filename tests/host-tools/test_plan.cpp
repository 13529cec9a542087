// What `plan` finds in a board's tree, and in trees that are wrong at every byte.
#include "plan/board_plan.hpp"
#include "system/error.hpp"
#include "tree_maker.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Bytes = std::vector<std::byte>;

struct Parts {
    std::vector<std::uint32_t> memory = {0x4000'0000, 0x2000'0000};
    std::vector<std::uint32_t> cpus = {0, 1}; ///< MPIDR
    std::uint32_t second_parent = 1;          ///< phandle, of interrupts of the second controller
    const char* uart = "snps,dw-apb-uart";
};

/// Two CPUs, a GIC with a second controller behind it, two UARTs in one page, and a timer behind
/// them in the next one.
Bytes board_tree(const Parts& parts = {}) {
    Bytes tree(8192);
    TreeMaker make(tree);
    make.node("", [&] {
        make.cells(1, 1);
        make.strings("compatible", {"test,board"});
        make.numbers("interrupt-parent", {1});
        make.node("aliases", [&] { make.strings("serial0", {"/serial@1c28000"}); });
        make.node("cpus", [&] {
            make.cells(1, 0);
            for (std::size_t n = 0; n < parts.cpus.size(); ++n) {
                make.node(("cpu@" + std::to_string(n)).c_str(), [&] {
                    make.strings("device_type", {"cpu"});
                    make.strings("compatible", {"arm,cortex-a7"});
                    make.numbers("reg", {parts.cpus[n]});
                });
            }
        });
        make.node("psci", [&] {
            make.strings("compatible", {"arm,psci-0.2"});
            make.strings("method", {"smc"});
        });
        make.node("memory@40000000", [&] {
            make.strings("device_type", {"memory"});
            make.numbers("reg", parts.memory);
        });
        make.node("gic@1c81000", [&] {
            make.strings("compatible", {"arm,gic-400"});
            make.strings("interrupt-controller", {});
            make.numbers("phandle", {1});
            make.numbers("reg", {0x1c8'1000, 0x1000, 0x1c8'2000, 0x1000});
        });
        make.node("gpio@1d00000", [&] {
            make.strings("interrupt-controller", {});
            make.numbers("phandle", {2});
            make.numbers("interrupt-parent", {parts.second_parent});
            make.numbers("reg", {0x1d0'0000, 0x1000});
        });
        make.node("pmic@1d01000", [&] {
            make.strings("interrupt-controller", {});
            make.numbers("phandle", {3});
            make.numbers("interrupt-parent", {2});
            make.numbers("reg", {0x1d0'1000, 0x1000});
        });
        for (const std::uint32_t at : {0x1c2'8000u, 0x1c2'8400u}) {
            make.node(at == 0x1c2'8000 ? "serial@1c28000" : "serial@1c28400", [&] {
                make.strings("compatible", {parts.uart});
                make.numbers("reg", {at, 0x400});
                make.numbers("reg-shift", {2});
                make.numbers("reg-io-width", {4});
            });
        }
        make.node("timer@1c28800", [&] { make.numbers("reg", {0x1c2'8800, 0x1000}); });
    });
    make.finish(tree);
    return tree;
}

std::unique_ptr<plan::Survey> survey(const Bytes& tree) {
    return std::make_unique<plan::Survey>(tree);
}

/// "kind node" of each fault.
std::string faults(const Bytes& tree) {
    const auto found = survey(tree);
    std::string text;
    for (const plan::Fault& fault : found->faults) {
        text += std::string(fault.kind) + " " + fault.node + ";";
    }
    return text;
}

} // namespace

TEST_CASE("a plan is enough to try a board, unless it misses something") {
    const run::Board board = plan::tried_board("b", board_tree());
    CHECK(board.machine == "b");
    CHECK(board.ram_base == 0x4000'0000);
    CHECK(board.memory == 0x2000'0000);
    CHECK(board.max_cpus == 2);
    CHECK(board.boot_image); // PSCI
    CHECK(board.one_serial());
    Parts parts;
    parts.uart = "acme,uart";
    CHECK_THROWS_WITH(
        plan::tried_board("b", board_tree(parts)),
        "--board b: mmioscope plan finds UART missing in its tree: /serial@1c28000: "
        "acme,uart, the console, is no PL011, 8250 or i.MX UART, so the hypervisor can neither "
        "send the trace nor tell why it stops");
}

TEST_CASE("a plan of a complete board misses nothing") {
    const auto whole = survey(board_tree());
    CHECK(whole->faults.empty());
    CHECK(whole->cpus.size() == 2);
    CHECK(whole->own.begin == 0x4800'0000);
    CHECK(whole->path(whole->gic) == "/gic@1c81000");
    CHECK(whole->path(whole->board.uart_node) == "/serial@1c28000");
    const plan::StreamUart stream = plan::stream_uart(*whole);
    CHECK(whole->path(stream.node) == "/serial@1c28400");
    CHECK(!stream.shared);
}

TEST_CASE("page mates are other nodes' regions in the same pages, not only in the same bytes") {
    const auto whole = survey(board_tree());
    const auto mates = [&](const std::string& path) {
        std::string text;
        for (std::uint16_t n = 0; n < whole->regions.size(); ++n) {
            if (path != whole->regions[n].path) {
                continue;
            }
            for (const std::uint16_t mate : plan::page_mates(*whole, n)) {
                text += std::string(whole->regions[mate].path) + " ";
            }
        }
        return text;
    };
    CHECK(mates("/serial@1c28000") == "/serial@1c28400 /timer@1c28800 ");
    CHECK(mates("/timer@1c28800") == "/serial@1c28000 /serial@1c28400 ");
    CHECK(mates("/gic@1c81000").empty()); // its two regions lie in a page each
}

TEST_CASE("a plan names the node of each fault") {
    CHECK(faults(board_tree({.memory = {0x4000'0000, 0}})) == "memory /memory@40000000;");
    CHECK(faults(board_tree({.memory = {0x4000'0000, 0x0800'0000}})) == "place ;");
    CHECK(faults(board_tree({.memory = {0xc000'0000, 0x2000'0000}})) == "image ;");
    CHECK(faults(board_tree({.memory = {0x4000'0000, 0x2000'0000, 0x5000'0000, 0x1000}})) ==
          "memory memory@40000000;");
    CHECK(faults(board_tree({.memory = {0, 0x2000'0000}})) ==
          "overlap /gic@1c81000;overlap /gic@1c81000;overlap /serial@1c28000;");
    CHECK(faults(board_tree({.cpus = {0, 0x100}})).empty()); // two clusters, with firmware
    CHECK(faults(board_tree({.cpus = {0, 0x100, 0x200}})) == "CPUs cpu@2;");
    CHECK(faults(board_tree({.second_parent = 3})) == "cycle /gpio@1d00000;");
    CHECK(faults(board_tree({.second_parent = 2})).empty()); // a root of its own
    CHECK(faults(board_tree({.second_parent = 9})).empty()); // nowhere: the root's is taken
    CHECK(faults(board_tree({.uart = "test,uart"})) == "UART /serial@1c28000;");
}

TEST_CASE("a tree that is cut or wrong at any byte gives a plan or an error") {
    const Bytes whole = board_tree();
    unsigned refused = 0;
    unsigned planned = 0;
    const auto look_at = [&](const Bytes& tree) {
        try {
            const auto all = plan::tables(*survey(tree));
            CHECK(all.front().rows.size() > 1);
            ++planned;
        } catch (const Error& error) {
            CHECK(std::string(error.what()).find("device tree") != std::string::npos);
            ++refused;
        }
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        Bytes wrong = whole;
        wrong[at] ^= std::byte{0x41};
        look_at(wrong);
        look_at(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)));
    }
    CHECK(refused > whole.size()); // each cut, and some bytes
    CHECK(planned > whole.size() / 4);
}
