// Registers of a trace's devices: found by the device tree, and by offset, size and direction.
#include "catch_2_or_3.hpp"
#include "cpu_time.hpp"
#include "reading/naming.hpp"
#include "records.hpp"
#include "registers/description.hpp"
#include "registers/fields_text.hpp"
#include "tree_maker.hpp"

#include <fmt/format.h>

// From the sanitizer that these tests are built with; GCC does not install its header.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

using namespace mmioscope;
using namespace mmioscope::registers;
using namespace mmioscope::test;

namespace {

abi::Record to(std::uint16_t device, std::uint64_t address, bool write, unsigned log2_size = 2,
               std::uint64_t value = 0) {
    abi::Record record = access(0, 0, 1'000);
    record.device = device;
    record.access = abi::encode_access(write, log2_size);
    record.value = value;
    abi::set_physical_address(record, address);
    return record;
}

/// A UART, a GIC with two entries, and something without a description.
std::vector<std::byte> board_tree() {
    return make_tree([](TreeMaker& make) {
        make.cells(1, 1);
        make.node("serial@9000", [&] {
            make.strings("compatible", {"arm,pl011", "arm,primecell"});
            make.numbers("reg", {0x9000, 0x1000});
        });
        make.node("interrupt-controller@a000", [&] {
            make.strings("compatible", {"arm,gic-400"});
            make.numbers("reg", {0xa000, 0x1000, 0xb000, 0x2000});
        });
        make.node("thing@c000", [&] {
            make.strings("compatible", {"acme,thing"});
            make.numbers("reg", {0xc000, 0x1000});
        });
    });
}

std::vector<abi::RegionEntry> board_regions() {
    std::vector<abi::RegionEntry> regions = {region(0x9000, 0x1000, "/serial@9000"),
                                             region(0xa000, 0x1000, "/interrupt-controller@a000"),
                                             region(0xb000, 0x2000, "/interrupt-controller@a000"),
                                             region(0xc000, 0x1000, "~ing@c000")};
    regions[2].reg_index = 1;
    return regions;
}

/// DeviceRegisters of that board.
struct Board {
    explicit Board(const std::string& more = "") {
        book.add(read_regs(more, "more.regs"), {});
        registers.bind(list_devices(board_regions(), board_tree()));
    }

    std::string name(const abi::Record& record) {
        constexpr std::uint64_t bases[] = {0x9000, 0xa000, 0xb000, 0xc000};
        const std::uint64_t offset = abi::physical_address(record) - bases[record.device];
        const Register* reg = find(record, offset);
        if (registers.watches(record.device)) {
            registers.observe(record, offset);
        }
        return reg == nullptr ? "-" : register_text(*reg, offset);
    }

    const Register* find(const abi::Record& record, std::uint64_t offset) {
        return registers.find(record.device, offset, abi::access_size(record),
                              abi::is_write(record));
    }

    RegisterBook book = RegisterBook::shipped();
    DeviceRegisters registers{book};
};

} // namespace

TEST_CASE("an access has the register of its device, entry of reg, and direction") {
    Board board;
    CHECK(board.name(to(0, 0x9000, true)) == "DR");
    CHECK(board.name(to(0, 0x9004, false)) == "RSR");
    CHECK(board.name(to(0, 0x9004, true)) == "ECR");
    CHECK(board.name(to(0, 0x9fe8, false)) == "PeriphID2");
    CHECK(board.name(to(0, 0x9018, true)) == "FR");
    CHECK(board.name(to(0, 0x904c, false)) == "-");
    CHECK(board.name(to(1, 0xa820, true)) == "GICD_ITARGETSR8");
    CHECK(board.name(to(1, 0xa822, true, 0)) == "GICD_ITARGETSR8+2");
    CHECK(board.name(to(2, 0xb00c, false)) == "GICC_IAR");
    CHECK(board.name(to(2, 0xc000, true)) == "GICC_DIR");
    CHECK(board.name(to(3, 0xc000, false)) == "-");
    CHECK(board.name(to(0, 0x9000, true)) == "DR");
}

TEST_CASE("a device whose path is cut is found by the path's end") {
    Board board("device thing\ncompatible acme,thing\n0x0 ID\n");
    CHECK(board.name(to(3, 0xc000, false)) == "ID");
}

TEST_CASE("incomplete paths are looked up fast, found or not") {
    std::vector<std::byte> tree(1u << 20);
    TreeMaker make(tree);
    make.node("", [&] {
        for (unsigned i = 0; i < 10'000; ++i) {
            make.node(fmt::format("n{}", i).c_str(), [&] { make.node("m", [] {}); });
        }
    });
    make.finish(tree);
    std::vector<abi::RegionEntry> regions(1000, region(0x1000, 0x10, "/n9999/"));
    regions.push_back(region(0x2000, 0x10, "~99/m"));
    regions.push_back(region(0x2000, 0x10, "/n9999/m"));
    regions.push_back(region(0x2000, 0x10, "/"));
    std::vector<Device> devices;
    CHECK(cpu_seconds([&] { devices = list_devices(regions, tree); }) < 3);
    CHECK(devices[0].node == tree::TreeNodes::none);
    CHECK(devices[1000].path == "/n99/m");
    CHECK(devices[1001].path == "/n9999/m");
    CHECK(devices[1002].node == 0);
}

TEST_CASE("the memory for registers looked up does not grow with the trace") {
    Board board;
    const auto look = [&board](std::uint64_t from, std::uint64_t to_offset) {
        for (std::uint64_t offset = from; offset < to_offset; ++offset) {
            (void)board.find(to(0, 0, true), offset << 12);
        }
        return __sanitizer_get_current_allocated_bytes();
    };
    constexpr std::uint64_t many = 1u << 16;
    const std::size_t before = look(0, many);
    CHECK(look(many, 2 * many) <= before + 4096);
    CHECK(board.name(to(0, 0x9000, true)) == "DR");
}

TEST_CASE("of overlapping registers, the one that contains the access is chosen") {
    Board board("device thing\ncompatible acme,thing\nsize 2\n0x0 VENDOR\n0x2 DEVICE\n"
                "0x0 BOTH size 4 also\n");
    CHECK(board.name(to(3, 0xc000, false, 1)) == "VENDOR");
    CHECK(board.name(to(3, 0xc002, false, 1)) == "DEVICE");
    CHECK(board.name(to(3, 0xc000, false, 2)) == "BOTH");
    CHECK(board.name(to(3, 0xc003, false, 0)) == "DEVICE+1");
}

TEST_CASE("a different register is at an offset while a field has a given value") {
    Board board("device thing\ncompatible acme,thing\n0x0 THR w\n0x0 DLL when LCR.DLAB=1\n0xc "
                "LCR\n[7] DLAB\n");
    CHECK(board.name(to(3, 0xc000, true)) == "THR");
    CHECK(board.name(to(3, 0xc000, false)) == "THR");
    CHECK(board.name(to(3, 0xc00c, true, 2, 0x83)) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "DLL");
    CHECK(board.name(to(3, 0xc000, false)) == "DLL");
    CHECK(board.name(to(3, 0xc00c, true, 2, 0x03)) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "THR");
}

TEST_CASE("a condition knows registers that an inclusion brings") {
    Board board("device line\n0xc LCR\n[7] DLAB\ndevice thing\ncompatible acme,thing\n"
                "include line at 0x10\n0x0 THR\n0x0 DLL when LCR.DLAB=1\n");
    CHECK(board.name(to(3, 0xc000, true)) == "THR");
    CHECK(board.name(to(3, 0xc01c, true, 2, 0x83)) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "DLL");
}

TEST_CASE("an index chooses the register behind a data register") {
    Board board("device phy\nsize 2\n0x0 BMCR : Control\n[15] RESET\n0x2 BMSR r\ndevice thing\n"
                "compatible acme,thing\n0x0 CMD\n[8:4] REG 0=zero\n[0] BUSY\n"
                "0x4 DATA r indirect CMD.REG phy\n[15:0] ALL\n0x4 DATA w\n");
    const auto chosen = [&](std::uint64_t command) {
        (void)board.name(to(3, 0xc000, true, 2, command));
        return board.name(to(3, 0xc004, false));
    };
    CHECK(chosen(0x01) == "DATA[BMCR]");
    const Register* const reg = board.find(to(3, 0xc004, false), 4);
    REQUIRE(reg != nullptr);
    CHECK(reg->description == "Control");
    CHECK(fields_text(*reg, 0x8000, 4, 0) == "RESET=1");
    CHECK(board.name(to(3, 0xc004, true)) == "DATA"); // a write comes before its command
    CHECK(chosen(0x11) == "DATA[BMSR]");
    CHECK(chosen(0x21) == "DATA"); // phy has no such register
    const Register* const command = board.find(to(3, 0xc000, true), 0);
    REQUIRE(command != nullptr);
    CHECK(fields_text(*command, 0x11, 4, 0) == "REG=BMSR BUSY=1");
    CHECK(fields_text(*command, 0x01, 4, 0) == "REG=zero BUSY=1");
}

TEST_CASE("only an access with a known value switches between such registers") {
    Board board("device thing\ncompatible acme,thing\n0x0 THR w\n0x0 DLL when LCR.DLAB=1\n0xc "
                "LCR\n[7] DLAB\n");
    CHECK(board.name(to(3, 0xc00c, true, 2, 0x83)) == "LCR");
    abi::Record record = to(3, 0xc00c, true, 2, 0);
    record.flags = abi::flag_value_unknown;
    CHECK(board.name(record) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "DLL");
    record.flags = 0;
    record.type = abi::RecordType::begin; // not yet carried out
    CHECK(board.name(record) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "DLL");
    record.type = abi::RecordType::access;
    CHECK(board.name(record) == "LCR");
    CHECK(board.name(to(3, 0xc000, true)) == "THR");
}

TEST_CASE("accesses of a real PL011 and GIC are described in words") {
    Board board;
    const auto text = [&](const abi::Record& record, std::uint64_t offset) {
        const Register* reg = board.find(record, offset);
        REQUIRE(reg != nullptr);
        return register_text(*reg, offset) + " " +
               fields_text(*reg, record.value, abi::access_size(record),
                           static_cast<unsigned>(offset - reg->offset));
    };
    CHECK(text(to(0, 0x9018, false, 1, 0x90), 0x18) == "FR TXFE=1 RXFE=1");
    CHECK(text(to(0, 0x902c, true, 1, 0x70), 0x2c) == "LCR_H WLEN=8bits FEN=1");
    CHECK(text(to(0, 0x9030, true, 1, 0xf01), 0x30) == "CR RTS=1 DTR=1 RXE=1 TXE=1 UARTEN=1");
    CHECK(text(to(0, 0x9034, true, 1, 0x12), 0x34) == "IFLS RXIFLSEL=1/2 TXIFLSEL=1/2");
    CHECK(text(to(1, 0xa004, false, 2, 0x424), 4) ==
          "GICD_TYPER SecurityExtn=1 CPUNumber=1 ITLinesNumber=4");
    CHECK(text(to(1, 0xa410, true, 2, 0xa0a0a0a0), 0x410) == "GICD_IPRIORITYR4 Priority0..3=0xa0");
    CHECK(text(to(1, 0xa865, true, 0, 2), 0x865) == "GICD_ITARGETSR25+1 CPU_targets1=2");
    CHECK(text(to(1, 0xaf00, true, 2, 0x20003), 0xf00) ==
          "GICD_SGIR TargetListFilter=list CPUTargetList=2 SGIINTID=3");
    CHECK(text(to(2, 0xb00c, false, 2, 0x403), 0xc) == "GICC_IAR CPUID=1 Interrupt_ID=3");
    CHECK(text(to(2, 0xb0fc, false, 2, 0x2043b), 0xfc) ==
          "GICC_IIDR Architecture_version=2 Implementer=0x43b");
}

TEST_CASE("events of a trace have their registers") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(abi::SectionType::device_tree, board_tree());
        write_regions(writer, board_regions());
        const abi::Record record = to(0, 0x9018, false, 1, 0x90);
        writer.append(std::span(&record, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    const auto records = reader.next();
    REQUIRE(records.size() == 1);
    const Event event = naming.event(records[0]);
    REQUIRE(event.reg() != nullptr);
    CHECK(event.reg()->name == "FR");
    CHECK(event.reg()->description == "UARTFR: Flags");
    CHECK(event.interrupt().empty());
}
