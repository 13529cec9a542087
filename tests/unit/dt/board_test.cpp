#include "dt/board.hpp"

#include "abi/chosen.hpp"
#include "catch_2_or_3.hpp"
#include "machine/power.hpp"
#include "sim/board_tree.hpp"
#include "sim/rig.hpp"
#include "start/start.hpp"

#include <libfdt.h>

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr const char* iofpga = "/bus@8000000/motherboard/iofpga@3,00000000/";
constexpr const char* distributor = "/interrupt-controller@2c001000";

/// The simulated board's tree, for changes.
class Changed {
public:
    explicit Changed(const TreeOptions& options = {})
        : blob_(with_room(make_board_tree(options))) {}

    Changed& text(const std::string& path, const char* name, const char* value) {
        REQUIRE(fdt_setprop_string(blob_.data(), node(path), name, value) == 0);
        return *this;
    }
    Changed& remove(const std::string& path, const char* name) {
        REQUIRE(fdt_delprop(blob_.data(), node(path), name) == 0);
        return *this;
    }
    Changed& add_node(const char* name) {
        REQUIRE(fdt_add_subnode(blob_.data(), 0, name) >= 0);
        return *this;
    }
    const Blob& blob() const { return blob_; }
    Board board() const {
        Board found{};
        found.machine_registers.clear();
        const Tree tree = tree_of(blob_);
        REQUIRE(!read_board(tree, found));
        return found;
    }

private:
    int node(const std::string& path) {
        const int found = fdt_path_offset(blob_.data(), path.c_str());
        REQUIRE(found >= 0);
        return found;
    }
    Blob blob_;
};

const TreeOptions no_own_uart{.uart = ""};

} // namespace

TEST_CASE("a board's name, GIC, bus and firmware are those of its tree") {
    const Board vexpress = Changed().board();
    CHECK(vexpress.name == std::string("arm,vexpress,v2p-ca15,tc1"));
    CHECK(vexpress.gic_distributor.value == at::gic);
    CHECK(vexpress.gic_cpu_interface.value == at::gic + 0x1000);
    CHECK(vexpress.unassigned == Unassigned::reads_zero);
    CHECK(!vexpress.psci);

    const Board other = Changed()
                            .text("/", "compatible", "acme,a-board-with-a-name-that-is-too-long")
                            .text(distributor, "compatible", "acme,interrupts")
                            .add_node("psci")
                            .text("/psci", "compatible", "arm,psci")
                            .board();
    CHECK(other.name == std::string("acme,a-board-with-a-name-that-i"));
    CHECK(other.gic_distributor.value == 0);
    CHECK(other.unassigned == Unassigned::aborts);
    CHECK(other.psci);
}

TEST_CASE("a board's UART for the hypervisor is the chosen one, or else the guest's console") {
    const Board own = Changed().board();
    CHECK(own.uart.base.value == at::own_uart);
    CHECK(!own.uart_is_guests);
    const Board by_alias = Changed().text("/chosen", abi::chosen::uart, "serial0").board();
    CHECK(by_alias.uart.base.value == at::console);
    CHECK(!by_alias.uart_is_guests);

    const auto shares = [](const Changed& tree, std::uint64_t base) {
        const Board board = tree.board();
        return board.uart_is_guests && board.uart.model == UartModel::pl011 &&
               board.uart.base.value == base;
    };
    CHECK(shares(Changed(no_own_uart), at::console)); // serial0
    CHECK(shares(Changed(no_own_uart).text("/chosen", "stdout-path", "serial0:115200n8"),
                 at::console));
    CHECK(shares(
        Changed(no_own_uart)
            .text("/chosen", "stdout-path", (std::string(iofpga) + "uart@a0000:9600").c_str()),
        at::own_uart));
    CHECK(shares(Changed(no_own_uart).text("/chosen", "stdout-path", "nothing"), at::console));
    CHECK(shares(Changed(no_own_uart).remove("/aliases", "serial0"), at::console)); // the first
    CHECK(shares(Changed(no_own_uart)
                     .remove("/aliases", "serial0")
                     .text(std::string(iofpga) + "uart@90000", "status", "disabled"),
                 at::own_uart));
    // One that it has no driver for, and one that is not there.
    CHECK(shares(Changed().text("/chosen", abi::chosen::uart, "fifo"), at::console));
    CHECK(shares(Changed().text("/chosen", abi::chosen::uart, "nothing"), at::console));

    const Board none = Changed(no_own_uart)
                           .text(std::string(iofpga) + "uart@90000", "compatible", "acme,uart")
                           .board();
    CHECK(none.uart.model == UartModel::none);
    CHECK(none.uart_node < 0);
}

TEST_CASE("a board's registers that start CPUs or end the machine are known by their compatible") {
    const Board vexpress = Changed().board();
    REQUIRE(vexpress.machine_registers.size() == 1);
    using Kind = BoardEvent::Kind;
    const auto event = [&](std::uint64_t offset, std::uint64_t value) {
        return vexpress.event_of({at::sysreg + offset}, value).kind;
    };
    CHECK(event(0x30, 1) == Kind::start_address_set);
    CHECK(event(0x34, 1) == Kind::start_address_clear);
    CHECK(event(0xa4, 0xc080'0000) == Kind::machine_off);
    CHECK(event(0xa4, 0xc090'0000) == Kind::machine_reset);
    CHECK(event(0xa4, 0x8080'0000) == Kind::none); // a read
    CHECK(event(0xa8, 0xc080'0000) == Kind::none);
    CHECK(vexpress.event_of({at::fifo + 0x30}, 1).kind == Kind::none);
    CHECK(vexpress.start_mailbox() == nullptr);
    // GICD_SGIR: the interrupt by which Linux stops the other CPUs.
    CHECK(vexpress.event_of({at::gic + 0xf00}, 0x000e'0004).kind == Kind::others_stop);
    CHECK(vexpress.event_of({at::gic + 0xf00}, 0x000e'0003).kind == Kind::none);
    CHECK(vexpress.event_of({at::gic + 0x200}, 4).kind == Kind::none);

    Changed changed;
    changed.text(std::string(iofpga) + "sysreg@10000", "compatible", "acme,registers");
    CHECK(changed.board().machine_registers.empty());

    for (const char* name : {"fifo@130000", "gadget@140000", "wide@150000", "broken@160000"})
        changed.text(std::string(iofpga) + name, "compatible", "arm,vexpress-sysreg");
    CHECK(changed.board().machine_registers.size() == 4);
    changed.text(std::string(iofpga) + "sysreg@10000", "compatible", "arm,vexpress-sysreg");
    Board found{};
    CHECK(read_board(tree_of(changed.blob()), found).what != nullptr);
}

TEST_CASE("a board's other CPUs are called by their mailboxes, and wait for their own address") {
    const std::string compatible =
        GENERATE("aspeed,ast2600-smpmem", "brcm,bcm2836-l1-intc", "test,fifo");
    CAPTURE(compatible);
    Changed tree;
    tree.text(std::string(iofpga) + "fifo@130000", "compatible", compatible.c_str());
    const Board board = tree.board();

    Rig rig(RigOptions{});
    OwnBus bus;
    call_other_cpus(board, bus, 3, {0x8800'0000});
    std::vector<std::pair<std::uint64_t, std::uint64_t>> written;
    for (const BusAccess& access : rig.bus_log(at::fifo, 0x1000))
        if (access.write) written.emplace_back(access.address - at::fifo, access.value);

    Power power;
    const auto starts = [&](std::uint64_t offset) {
        return board.event_of({at::fifo + offset}, 0x8030'0000);
    };
    if (compatible == "aspeed,ast2600-smpmem") {
        CHECK(written ==
              decltype(written){
                  {0, 0x8800'0000}, {4, 0xabba'ab01}, {0, 0x8800'0000}, {4, 0xabba'ab02}});
        CHECK(starts(0).kind == BoardEvent::Kind::start_address_set);
        CHECK(starts(4).kind == BoardEvent::Kind::none);
        power.note(starts(0), 0x8030'0000);
        CHECK(power.wait_for_start(1, true) == 0x8030'0000);
    } else if (compatible == "brcm,bcm2836-l1-intc") {
        CHECK(written == decltype(written){{0x9c, 0x8800'0000}, {0xac, 0x8800'0000}});
        CHECK(starts(0x8c + 0x20).cpu == 2);
        CHECK(starts(0x88 + 0x20).kind == BoardEvent::Kind::none);
        power.note(starts(0x8c + 0x20), 0x8030'0000);
        power.note(starts(0x8c + 0x10), 0x8040'0000);
        CHECK(power.wait_for_start(2, true) == 0x8030'0000);
        CHECK(power.wait_for_start(1, true) == 0x8040'0000);
    } else {
        CHECK(written.empty());
        CHECK(board.start_mailbox() == nullptr);
    }
}
