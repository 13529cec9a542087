// Description files: their meaning, and their errors.
#include "catch_2_or_3.hpp"
#include "registers/description.hpp"
#include "registers/fields_text.hpp"
#include "registers/register_book.hpp"
#include "registers/shipped.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <fstream>

using namespace mmioscope;
using namespace mmioscope::registers;

namespace {

std::string wrong(const std::string& text) {
    try {
        RegisterBook book;
        book.add(read_regs(text, "my.regs"), {});
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        return error.what();
    }
    return "nothing is wrong";
}

Description only(const std::string& text) {
    std::vector<Description> all = read_regs(text, "my.regs");
    REQUIRE(all.size() == 1);
    return all[0];
}

std::string name_at(const Description& description, std::uint64_t offset) {
    for (const Entry& entry : description.entries) {
        if (const auto start = start_of(entry, offset)) {
            return register_text(instance(entry, *start), offset);
        }
    }
    return "-";
}

} // namespace

TEST_CASE("a device in ten lines") {
    const Description device = only("device timer : Two timers\n"
                                    "compatible acme,timer-2 acme,timer\n"
                                    "reg 1\n"
                                    "0x00 CTRL : Control # not the manual's words\n"
                                    "    [0]   EN\n"
                                    "    [2:1] MODE 0=once 2=periodic : How it counts\n"
                                    "0x04 COUNT r\n"
                                    "    [31:0] COUNT\n"
                                    "0x08 STAT size 1 w\n"
                                    "    [0] IRQ[0..7]\n");
    CHECK(device.name == "timer");
    CHECK(device.title == "Two timers");
    CHECK(device.compatible == std::vector<std::string>{"acme,timer-2", "acme,timer"});
    CHECK(device.reg_index == 1);
    REQUIRE(device.entries.size() == 3);
    const Register& control = device.entries[0].first;
    CHECK(control.description == "Control");
    CHECK(fields_text(control, 5, 4, 0) == "EN=1 MODE=periodic");
    CHECK(fields_text(control, 2, 4, 0) == "MODE=1");
    CHECK(fields_text(control, 0, 4, 0) == "MODE=once");
    CHECK(device.entries[1].direction == Direction::read);
    CHECK(device.entries[2].direction == Direction::write);
    CHECK(device.entries[2].first.size == 1);
    CHECK(fields_text(device.entries[2].first, 0xf1, 1, 0) == "IRQ0=1 IRQ4..7=1");
}

TEST_CASE("arrays and blocks have their indices in the names") {
    const Description device = only("device d\n"
                                    "0x100 ENABLE[0..3]\n"
                                    "block 0x200 P[A..C]_ step 0x24\n"
                                    "0x00 CFG[0..3]\n"
                                    "0x10 DAT size 2\n"
                                    "end\n"
                                    "block 0x400 b[0..1] step 0x100\n"
                                    "block 0x0 d[2..3]. step 0x10\n"
                                    "0x4 ID size 2\n"
                                    "end\n"
                                    "end\n");
    CHECK(name_at(device, 0x100) == "ENABLE0");
    CHECK(name_at(device, 0x10e) == "ENABLE3+2");
    CHECK(name_at(device, 0x110) == "-");
    CHECK(name_at(device, 0x200) == "PA_CFG0");
    CHECK(name_at(device, 0x224 + 0xc) == "PB_CFG3");
    CHECK(name_at(device, 0x248 + 0x11) == "PC_DAT+1");
    CHECK(name_at(device, 0x248 + 0x12) == "-");
    CHECK(name_at(device, 0x404) == "b0d2.ID");
    CHECK(name_at(device, 0x515) == "b1d3.ID+1");
}

TEST_CASE("fields are printed for a part of a register, and equal ones as a range") {
    const Description device =
        only("device d\n0x0 PRIORITY\n[7:0] P[0..3]\n0x8 WIDE size 8\n[63:0] ALL\n");
    const Register& reg = device.entries[0].first;
    CHECK(fields_text(reg, 0xa0a0a0a0, 4, 0) == "P0..3=0xa0");
    CHECK(fields_text(reg, 0xa0, 1, 2) == "P2=0xa0");
    CHECK(fields_text(reg, 0x0201, 2, 2) == "P2=1 P3=2");
    CHECK(fields_text(reg, 0x00a0a000, 4, 0) == "P1..2=0xa0");
    CHECK(fields_text(device.entries[1].first, ~0ull, 8, 0) ==
          ""); // the field would only repeat the value
    CHECK(fields_text(device.entries[1].first, 1, 4, 0).empty());
}

TEST_CASE("fields are merged only where their numbers are consecutive") {
    const Description device = only("device d\n0x0 A\n[0] IRQ0\n[1] IRQ2\n[2] IRQ3\n");
    CHECK(fields_text(device.entries[0].first, 7, 4, 0) == "IRQ0=1 IRQ2..3=1");
}

TEST_CASE("a gap between the registers of an array is no register") {
    const Description device = only("device d\n0x0 A[0..2] step 8\n");
    CHECK(name_at(device, 0xb) == "A1+3");
    CHECK(name_at(device, 0xc) == "-");
    CHECK(name_at(device, 0x10) == "A2");
}

TEST_CASE("errors in a description are reported with their line") {
    CHECK(wrong("0x0 DR\n") == "my.regs:1: 'device NAME' must come first");
    CHECK(wrong("device d\n\n[0] A\n") == "my.regs:3: a field before any register");
    CHECK(wrong("device d\n0x0\n") == "my.regs:2: the register's name is missing");
    CHECK(wrong("device d\n0xg A\n") == "my.regs:2: '0xg' is not a number; expected an offset");
    CHECK(wrong("device d\n0x0 A read\n") == "my.regs:2: 'read' is not an option of a register");
    CHECK(wrong("device d\n0x0 A size 3\n") ==
          "my.regs:2: a register has 1, 2, 4 or 8 bytes, not 3");
    CHECK(wrong("device d\n0x0 A[3..1]\n") ==
          "my.regs:2: '[3..1]' is not a range of indices such as [0..31] or [A..G]");
    CHECK(wrong("device d\n0x0 A\n[4:7] B\n") ==
          "my.regs:3: '[4:7]' is not a range of bits such as [7:4] or [3]");
    CHECK(wrong("device d\n0x0 A size 1\n[8] B\n") ==
          "my.regs:3: [8] is beyond the 8 bits of the register");
    CHECK(wrong("device d\n0x0 A\n[3:0] B\n[3] C\n") ==
          "my.regs:4: bit 3 already belongs to another field");
    CHECK(wrong("device d\n0x0 A\n[1:0] B 4=x\n") == "my.regs:3: '4=x' does not fit 2 bits");
    CHECK(wrong("device d\n0x0 A\n[1:0] B x\n") ==
          "my.regs:3: 'x' is not a named value such as 1=on");
    CHECK(wrong("device d\n0x0 A\n[7:0] B[0..4]\n") ==
          "my.regs:3: 5 fields of 8 bits do not fit 32 bits");
    CHECK(wrong("device d\nblock 0x0 A[0..1]\n") == "my.regs:2: a block with indices needs a step");
    CHECK(wrong("device d\nblock 0x0 A\n0x0 B\n") == "my.regs:2: the block has no 'end'");
    CHECK(wrong("device d\nend\n") == "my.regs:2: 'end' without a block");
    CHECK(wrong("device d\ninclude e\n") == "my.regs:2: there is no device 'e'");
    CHECK(wrong("device d\ninclude d\n") == "my.regs:2: a device cannot include itself: 'd'");
    CHECK(wrong("device d\ninclude e\ndevice e\ninclude d\n").find("cannot include itself") !=
          std::string::npos);
    CHECK(wrong("device d\n0x0 A like B\n") ==
          "my.regs:2: there is no register 'B' before this line");
    CHECK(wrong("device d\n0x0 A when B.C=1\n") ==
          "my.regs:2: 'B.C=1' is not a condition REGISTER.FIELD=VALUE of this device");
    CHECK(wrong("device e\n0x0 A\n[3:0] I\ndevice d\ninclude e\n0x4 B when A.J=1\n") ==
          "my.regs:6: 'A.J=1' is not a condition REGISTER.FIELD=VALUE of this device");
    const std::string data = "device d\n0x0 A\n[3:0] I\n0x4 B size 2 indirect A.I ";
    CHECK(wrong(data + "e\n") == "my.regs:4: there is no device 'e'");
    CHECK(wrong(data + "d\n") == "my.regs:4: a device cannot include itself: 'd'");
    CHECK(wrong("device d\n0x0 A\n0x4 B indirect A.I d\n") ==
          "my.regs:3: 'A.I' is not a field REGISTER.FIELD of this device");
    const std::string before = "device d\n0x0 A\n[3:0] I\n[4] W\n0x4 B indirect A.I e before ";
    CHECK(wrong(before + "B.W=1\ndevice e\n") ==
          "my.regs:5: 'B.W=1' is not a condition FIELD=VALUE of the register of 'A.I'");
    CHECK(wrong(before + "A.W\ndevice e\n") ==
          "my.regs:5: 'A.W' is not a condition FIELD=VALUE of the register of 'A.I'");
    CHECK(wrong("device d\n0x0 A\n0x4 B before A.W=1\n") ==
          "my.regs:3: 'before' is not an option of a register");
    for (const auto& [of, name] :
         {std::pair{"0x0 R size 4", "R"}, std::pair{"0x20 R size 2", "R"},
          std::pair{"0x0 R[0..1] size 2", "R0"},
          std::pair{"0x2 S size 2\n[0] X\n0x0 R size 2 when S.X=1", "R"}}) {
        CHECK(wrong(data + "e\ndevice e\n" + of + "\n") ==
              fmt::format("my.regs:4: {} of e cannot be chosen by A.I: it must have no indices and "
                          "no condition, be no larger than B, and have a number that fits",
                          name));
    }
    CHECK(wrong("device d\ncolour red\n") ==
          "my.regs:2: 'colour' is neither a directive nor an offset");
    CHECK(wrong("device d\nreg 1 2\n") == "my.regs:2: '2' is not expected here");
    CHECK(wrong("device d\n0xfffffffffffffffe A\n") ==
          "my.regs:2: the register ends beyond 40 bits of address");
    CHECK(wrong("device d\n0x0 A[0..1048575] step 0x100000\n") == "nothing is wrong");
    CHECK(wrong("device d\n0x0 A[0..1048575] step 0x200000\n") ==
          "my.regs:2: the register ends beyond 40 bits of address");
}

std::string overlap_of(const Description& device) {
    const auto found = overlap(device);
    return found ? fmt::format("{}: {}", found->line, found->text) : "";
}

TEST_CASE("registers that overlap without saying so are found") {
    CHECK(overlap_of(only("device d\n0x0 A r\n0x0 B w\n0x4 C\n")).empty());
    CHECK(overlap_of(only("device d\n0x0 A\n0x2 B w\n")) == "3: B at 0x2 overlaps A at 0x0");
    CHECK(overlap_of(only("device d\n0x0 A\n0x2 B w also\n")).empty());
    CHECK(overlap_of(only("device d\n0x0 A[0..9]\n0x24 B\n")) ==
          "3: B at 0x24 overlaps A9 at 0x24");
}

TEST_CASE("another device's registers can be included, under this one's prefix") {
    RegisterBook book;
    book.add(
        read_regs("device a\ncompatible x,a\nprefix UART\ninclude ids at 0x100\n0x0 DR : Data\n"
                  "device ids\n0x0 ID[0..3] r\n",
                  "my.regs"),
        {});
    const std::vector<std::string> compatible{"x,newer", "x,a"};
    const Description* found = book.find(compatible, 0, {});
    REQUIRE(found != nullptr);
    CHECK(found->name == "a");
    REQUIRE(found->entries.size() == 2);
    CHECK(instance(found->entries[0], 0).description == "UARTDR: Data");
    CHECK(instance(found->entries[1], 0x108).name == "ID2");
    CHECK(instance(found->entries[1], 0x108).description == "UARTID2");
    CHECK(book.find(compatible, 1, {}) == nullptr);
}

TEST_CASE("an offset that is too large does not wrap to a small one") {
    CHECK(wrong("device d\nblock 0xfffffffffffffff0 B\n0x10 A\nend\n") ==
          "my.regs:3: the register ends beyond 40 bits of address");
    CHECK(wrong("device d\nblock 0xffffffffff B\n0xffffffffffffffff A\nend\n") ==
          "my.regs:3: the register ends beyond 40 bits of address");
    for (const char* offset : {"0xfffffffffffffff0", "0xfffffffff1"}) {
        RegisterBook book;
        CHECK_THROWS_WITH(
            book.add(read_regs(fmt::format("device a\n0x10 A\ndevice d\ninclude a at {}\n", offset),
                               "my.regs"),
                     {}),
            "my.regs:4: its registers would end beyond 40 bits of address");
    }
}

TEST_CASE("the most specific compatible wins, and the user's own file over a shipped one") {
    RegisterBook book = RegisterBook::shipped();
    const std::vector<std::string> compatible{"acme,uart", "arm,pl011"};
    REQUIRE(book.find(compatible, 0, {}) != nullptr);
    CHECK(book.find(compatible, 0, {})->name == "pl011");
    book.add(read_regs("device mine\ncompatible arm,pl011\n", "my.regs"), {});
    CHECK(book.find(compatible, 0, {})->name == "mine");
    book.add(read_regs("device acme\ncompatible acme,uart\n", "my.regs"), {});
    CHECK(book.find(compatible, 0, {})->name == "acme");
}

TEST_CASE("every shipped description is sound, and its registers do not overlap") {
    REQUIRE(shipped_devices().size() >= 3);
    const RegisterBook book = RegisterBook::shipped();
    for (const Description& device : book.descriptions()) {
        INFO(device.where << " " << device.name);
        CHECK(!overlap(device));
        CHECK_FALSE(device.entries.empty());
        if (device.compatible.empty()) {
            continue;
        }
        CHECK(book.find(std::span(&device.compatible[0], 1), device.reg_index, {}) == &device);
    }
}

TEST_CASE("the manual page's example is what it says: a device in ten lines") {
    std::ifstream page("docs/man/mmioscope-registers.5");
    std::vector<std::string> examples;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        inside = inside && line != ".Ed";
        if (inside) {
            examples.back() += line + "\n";
        } else if (line == ".Bd -literal") {
            inside = true;
            examples.emplace_back();
        }
    }
    REQUIRE(examples.size() == 2);
    CHECK(std::count(examples[0].begin(), examples[0].end(), '\n') == 10);
    CHECK(read_regs(examples[1], "page").size() == 2);
    const Description device = only(examples[0]);
    CHECK(device.compatible.size() == 2);
    CHECK(name_at(device, 0x14) == "COUNT1");
    REQUIRE(device.entries.size() == 4);
    CHECK(fields_text(device.entries[0].first, 3, 4, 0) == "EN=1 MODE=periodic");
    CHECK(fields_text(device.entries[3].first, 4, 4, 0) == "IRQ2=1");
    CHECK(!overlap(device));
}
