// CMSIS-SVD files.
#include "allocations.hpp"
#include "catch_2_or_3.hpp"
#include "registers/description.hpp"
#include "registers/fields_text.hpp"
#include "registers/register_book.hpp"
#include "system/error.hpp"

using namespace mmioscope;
using namespace mmioscope::registers;

namespace {

const char svd[] = R"(<?xml version="1.0" encoding="utf-8"?>
<device>
  <name>CHIP</name>
  <size>32</size>
  <access>read-write</access>
  <peripherals>
    <peripheral>
      <name>UART0</name>
      <description>Serial
         port</description>
      <baseAddress>0x40001000</baseAddress>
      <registers>
        <register>
          <name>CR</name>
          <description>Control</description>
          <addressOffset>0x0</addressOffset>
          <fields>
            <field><name>EN</name><bitRange>[0:0]</bitRange></field>
            <field><name>MODE</name><bitOffset>1</bitOffset><bitWidth>2</bitWidth>
              <enumeratedValues>
                <enumeratedValue><name>idle</name><value>0</value></enumeratedValue>
                <enumeratedValue><name>fast</name><value>#10</value></enumeratedValue>
                <enumeratedValue><name>any</name><value>#1x</value></enumeratedValue>
              </enumeratedValues>
            </field>
            <field><name>DIV</name><lsb>8</lsb><msb>15</msb></field>
            <field><dim>4</dim><dimIncrement>1</dimIncrement><name>IRQ%s</name><bitOffset>16</bitOffset></field>
          </fields>
        </register>
        <register><name>RBR</name><addressOffset>4</addressOffset><size>8</size><access>read-only</access></register>
        <register><name>THR</name><addressOffset>4</addressOffset><size>8</size><access>write-only</access></register>
        <register derivedFrom="CR"><name>CR2</name><addressOffset>0x8</addressOffset></register>
        <register><dim>3</dim><dimIncrement>4</dimIncrement><dimIndex>A,B,C</dimIndex><name>BUF%s</name>
          <addressOffset>0x10</addressOffset></register>
        <cluster><dim>2</dim><dimIncrement>0x20</dimIncrement><name>CH[%s]</name><addressOffset>0x40</addressOffset>
          <register><name>ADDR</name><addressOffset>0</addressOffset></register>
          <register><dim>2</dim><dimIncrement>4</dimIncrement><name>LEN%s</name><addressOffset>8</addressOffset></register>
        </cluster>
      </registers>
    </peripheral>
    <peripheral derivedFrom="UART0">
      <name>UART1</name>
      <baseAddress>0x40002000</baseAddress>
      <registers>
        <register><name>CR</name><addressOffset>0x0</addressOffset><size>16</size></register>
        <register><name>EXTRA</name><addressOffset>0x80</addressOffset></register>
      </registers>
    </peripheral>
  </peripherals>
</device>
)";

std::string name_at(const Description& device, std::uint64_t offset, bool write) {
    for (const Entry& entry : device.entries) {
        const auto start = start_of(entry, offset);
        if (start && allows(entry.direction, write)) {
            return register_text(instance(entry, *start), offset);
        }
    }
    return "-";
}

std::vector<Description> peripherals_of(std::string_view text) {
    LeftOut left_out;
    return read_svd(text, "chip.svd", left_out);
}

/// Why the file is refused, or what is left out first.
std::string wrong(const std::string& text) {
    LeftOut left_out;
    try {
        (void)read_svd(text, "chip.svd", left_out);
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        return error.what();
    }
    CHECK((left_out.count != 0) == !left_out.first.empty());
    return left_out.count == 0 ? "nothing is wrong" : left_out.first;
}

std::string with_registers(const std::string& inside) {
    return "<device><peripherals><peripheral><name>P</name><baseAddress>0</baseAddress>"
           "<registers>" +
           inside + "</registers></peripheral></peripherals></device>";
}

/// `count` registers derived from the first, with other names.
std::string with_derived(std::size_t count, const std::string& first) {
    std::string text =
        "<register><name>R</name><addressOffset>0</addressOffset>" + first + "</register>";
    for (std::size_t i = 0; i < count; ++i) {
        text += fmt::format("<register derivedFrom=\"R\"><name>R{}</name></register>", i);
    }
    return with_registers(text);
}

std::string with_register(const std::string& inside) {
    return "<device><peripherals><peripheral><name>P</name><baseAddress>0</"
           "baseAddress><registers>\n"
           "<register><name>R</name><addressOffset>0</addressOffset>\n" +
           inside + "</register></registers></peripheral></peripherals></device>";
}

} // namespace

TEST_CASE("an SVD file has registers, clusters, arrays and fields") {
    const std::vector<Description> all = peripherals_of(svd);
    REQUIRE(all.size() == 2);
    const Description& uart = all[0];
    CHECK(uart.name == "UART0");
    CHECK(uart.title == "Serial port");
    CHECK(uart.address == 0x40001000);
    CHECK(name_at(uart, 0, false) == "CR");
    CHECK(name_at(uart, 4, false) == "RBR");
    CHECK(name_at(uart, 4, true) == "THR");
    CHECK(name_at(uart, 5, true) == "-");
    CHECK(name_at(uart, 8, true) == "CR2");
    CHECK(name_at(uart, 0x15, true) == "BUFB+1");
    CHECK(name_at(uart, 0x40, true) == "CH0_ADDR");
    CHECK(name_at(uart, 0x6c, true) == "CH1_LEN1");
    const Register& control = uart.entries[0].first;
    CHECK(control.description == "Control");
    CHECK(fields_text(control, 0x00051205, 4, 0) == "EN=1 MODE=fast DIV=0x12 IRQ0=1 IRQ2=1");
    CHECK(fields_text(uart.entries[3].first, 1, 4, 0) == "EN=1 MODE=idle");
}

TEST_CASE("a derived peripheral has its own properties, and inherits the others") {
    const std::vector<Description> all = peripherals_of(svd);
    REQUIRE(all.size() == 2);
    const Description& uart = all[1];
    CHECK(uart.address == 0x40002000);
    CHECK(name_at(uart, 0x80, false) == "EXTRA");
    CHECK(name_at(uart, 4, false) == "RBR");
    CHECK(name_at(uart, 1, false) == "CR+1");
    CHECK(name_at(uart, 2, false) == "-");
}

TEST_CASE("a description includes a peripheral, and an address finds one") {
    const auto reader = [](const std::string& file) {
        CHECK(file == "chip.svd");
        return peripherals_of(svd);
    };
    RegisterBook book = RegisterBook::shipped();
    book.add(peripherals_of(svd), {});
    book.add(
        read_regs("device mine\ncompatible acme,uart\nsvd chip.svd UART0 at 0x100\n", "my.regs"),
        reader);
    const std::vector<std::string> acme{"acme,uart"};
    const std::vector<std::string> pl011{"arm,pl011"};
    REQUIRE(book.find(acme, 0, {}) != nullptr);
    CHECK(name_at(*book.find(acme, 0, {}), 0x108, false) == "CR2");
    CHECK(book.find(pl011, 0, {0x40001000, 0x1000})->name == "UART0");
    CHECK(book.find(pl011, 0, {0x40009000, 0x1000})->name == "pl011");
    CHECK_THROWS_WITH(book.add(read_regs("device d\nsvd chip.svd UART9\n", "my.regs"), reader),
                      "my.regs:2: chip.svd has no peripheral 'UART9' with registers");
}

TEST_CASE("errors in an SVD file are reported with their line") {
    CHECK(wrong("<device>\n<peripherals>\n</device>").rfind("chip.svd:3: ", 0) == 0);
    CHECK(wrong("").rfind("chip.svd:1: ", 0) == 0);
    CHECK(wrong("<html/>") ==
          "chip.svd:1: this is not an SVD file: <device> with <peripherals> is missing");
    CHECK(wrong("<device><peripherals>\n<peripheral/></peripherals></device>") ==
          "chip.svd:2: <peripheral> without <baseAddress>");
    CHECK(wrong(with_register("")) == "nothing is wrong");
    CHECK(wrong(with_register("<size>99</size>")) == "chip.svd:2: register 'R' has '99' bits");
    CHECK(wrong(with_register(
              "<fields>\n<field><name>F</name><bitRange>3:0</bitRange></field></fields>")) ==
          "chip.svd:4: <bitRange>: '3:0' is not [high:low]");
    CHECK(wrong(with_register(
              "<fields><field><name>F</name><bitOffset>32</bitOffset></field></fields>")) ==
          "chip.svd:3: field 'F' is beyond the 32 bits of its register");
    CHECK(wrong(with_register("<dim>x</dim>")) == "chip.svd:2: <dim>: 'x' is not a number");
    CHECK(wrong("<device><peripherals><peripheral "
                "derivedFrom=\"Q\"><name>P</name></peripheral></peripherals>"
                "</device>") == "chip.svd:1: derivedFrom=\"Q\": there is no such peripheral");
    CHECK(wrong("<device><peripherals><peripheral "
                "derivedFrom=\"P\"><name>P</name></peripheral></peripherals>"
                "</device>") == "chip.svd:1: derivedFrom=\"P\": there is no such peripheral");
    CHECK(wrong("<device><peripherals>"
                "<peripheral derivedFrom=\"Q\"><name>P</name></peripheral>"
                "<peripheral derivedFrom=\"P\"><name>Q</name></peripheral></peripherals>"
                "</device>") == "chip.svd:1: more than 8 elements derived from one another");
}

TEST_CASE("a small SVD file does not expand without limit") {
    using test::Allocations;
    const std::string field = "<fields><field><name>F%s</name><bitOffset>0</bitOffset>";
    CHECK(wrong(with_register(field + "<dim>1048576</dim><dimIncrement>0</dimIncrement>"
                                      "</field></fields>")) ==
          "chip.svd:3: field 'F%s' occurs 1048576 times at the same bits");
    CHECK(wrong(with_register(field + "<dim>1</dim><dimIncrement>0</dimIncrement>"
                                      "</field></fields>")) == "nothing is wrong");
    const std::string array = "<dim>1048576</dim><dimIncrement>4</dimIncrement>";
    CHECK(wrong(with_registers("<register><name>R%s</name><addressOffset>0</addressOffset>" +
                               array + "<dimIndex>0-3</dimIndex></register>")) ==
          "chip.svd:1: <dimIndex>: '0-3' does not have 1048576 indices");
    const Allocations arrays;
    CHECK(wrong(with_registers("<register><name>R%s</name><addressOffset>0</addressOffset>" +
                               array + "<dimIndex>1-1048576</dimIndex></register>")) ==
          "nothing is wrong");
    CHECK(arrays.bytes() < 1u << 20);

    std::string values = "<fields><field><name>F%s</name><dim>32</dim><dimIncrement>1"
                         "</dimIncrement><bitOffset>0</bitOffset><enumeratedValues>";
    std::string letters = "A";
    for (std::size_t i = 0; i < 256; ++i) {
        values += "<enumeratedValue><name>V</name><value>1</value></enumeratedValue>";
        letters += ",A";
    }
    values += "</enumeratedValues></field></fields>";
    const Allocations all;
    CHECK_THAT(wrong(with_derived(1'000, values)),
               Catch::EndsWith("more than 1048576 fields and named values"));
    CHECK_THAT(
        wrong(with_derived(2'000, "<description>" + std::string(100'000, 'x') + "</description>")),
        Catch::EndsWith("more than 67108864 characters"));
    std::string arrays_of_letters;
    for (std::size_t i = 0; i < 1'000; ++i) {
        arrays_of_letters +=
            fmt::format("<register derivedFrom=\"R%s\"><name>R%s_{}</name></register>", i);
    }
    CHECK_THAT(wrong(with_registers("<register><name>R%s</name><addressOffset>0</addressOffset>"
                                    "<dim>257</dim><dimIncrement>4</dimIncrement><dimIndex>" +
                                    letters + "</dimIndex></register>" + arrays_of_letters)),
               Catch::EndsWith("more than 65536 registers, clusters and names of indices"));
    CHECK(all.bytes() < 400u << 20);
}

TEST_CASE("array indices of an SVD file begin where it says") {
    const std::vector<Description> all = peripherals_of(
        with_registers("<register><name>R%s</name><addressOffset>0</addressOffset><dim>3</dim>"
                       "<dimIncrement>4</dimIncrement><dimIndex>5-7</dimIndex><fields><field>"
                       "<name>F%s</name><dim>2</dim><dimIncrement>1</dimIncrement><dimIndex>8-9"
                       "</dimIndex><bitOffset>0</bitOffset></field></fields></register>"));
    REQUIRE(all.size() == 1);
    CHECK(name_at(all[0], 8, false) == "R7");
    CHECK(fields_text(all[0].entries[0].first, 2, 4, 0) == "F9=1");
}

TEST_CASE("the elements from which SVD elements are derived are found fast") {
    constexpr std::size_t count = 16'000;
    std::string registers;
    for (std::size_t i = 0; i < count; ++i) {
        registers += fmt::format("<register derivedFrom=\"the last register\"><name>register with "
                                 "number {}</name></register>\n",
                                 i);
    }
    registers += "<register><name>the last register</name><addressOffset>4</addressOffset>"
                 "</register>";
    const std::string peripheral = "<peripheral><name>P</name><baseAddress>0</baseAddress>"
                                   "<registers>" +
                                   registers +
                                   "</registers></peripheral>"
                                   "<peripheral derivedFrom=\"P\"><name>Q</name></peripheral>";
    const test::Allocations read;
    const std::vector<Description> all =
        peripherals_of("<device><peripherals>" + peripheral + "</peripherals></device>");
    CHECK(read.calls() < 200 * count);
    REQUIRE(all.size() == 2);
    REQUIRE((all[0].entries.size() == count + 1 && all[1].entries.size() == count + 1));
    CHECK(all[1].entries[count - 1].first.name == "register with number 15999");
    CHECK(all[1].entries[count - 1].first.offset == 4);
}

namespace {

std::string with_field(const std::string& inside) {
    return with_register("<fields>" + inside + "</fields>");
}

std::string values(const std::string& name, const std::string& value, const std::string& list) {
    return "<enumeratedValues>" + list + "<enumeratedValue><name>" + name + "</name><value>" +
           value + "</value></enumeratedValue></enumeratedValues>";
}

std::string field(const std::string& name, unsigned low, const std::string& more) {
    return fmt::format("<field><name>{}</name><bitOffset>{}</bitOffset><bitWidth>4</bitWidth>{}"
                       "</field>",
                       name, low, more);
}

/// The fields of the only peripheral's first register, when it is read as `value`.
std::string fields_of(const std::string& text, std::uint64_t value) {
    const std::vector<Description> all = peripherals_of(text);
    REQUIRE((all.size() == 1 && !all[0].entries.empty()));
    return fields_text(all[0].entries[0].first, value, 4, 0);
}

} // namespace

TEST_CASE("what an SVD file cannot say is left out, and the rest stays") {
    const std::string good =
        "<register><name>GOOD</name><addressOffset>8</addressOffset></register>";
    for (const char* bad :
         {"<register><name>BAD</name></register>",
          "<register><name>BAD</name><addressOffset>x</addressOffset></register>",
          "<register><name>BAD</name><addressOffset>0</addressOffset><size>0</size></register>",
          "<register><addressOffset>0</addressOffset></register>",
          "<cluster><name>BAD</name><register><name>R</name></register></cluster>",
          "<register derivedFrom=\"NONE\"><name>BAD</name></register>",
          "<register><name>BAD%s</name><dim>0</dim><addressOffset>0</addressOffset></register>"}) {
        CAPTURE(bad);
        const std::vector<Description> all = peripherals_of(with_registers(bad + good));
        REQUIRE(all.size() == 1);
        REQUIRE(all[0].entries.size() == 1);
        CHECK(name_at(all[0], 8, true) == "GOOD");
        CHECK(wrong(with_registers(bad + good)) != "nothing is wrong");
    }
    CHECK(fields_of(with_field(field("A", 0, "") + field("B", 30, "") + field("C", 4, "")), 0x21) ==
          "A=1 C=2");
    LeftOut left_out;
    const auto all = read_svd("<device><peripherals><peripheral/><peripheral><name>P</name>"
                              "<baseAddress>0</baseAddress></peripheral><peripheral/>"
                              "</peripherals></device>",
                              "chip.svd", left_out);
    CHECK(all.size() == 1);
    CHECK(left_out.count == 2);
    // Own content counts, even if what it is derived from is missing.
    CHECK(name_at(peripherals_of(with_registers("<register derivedFrom=\"NONE\"><name>R</name>"
                                                "<addressOffset>4</addressOffset></register>"))[0],
                  4, true) == "R");
}

TEST_CASE("named values are derived by each path that vendors use") {
    const std::string first = field("A", 0, values("on", "1", "<name>SWITCH</name>"));
    for (const char* path :
         {"SWITCH", "A", "A.SWITCH", "R.A.SWITCH", "R.A", "P.R.A.SWITCH", "P.R.A"}) {
        CAPTURE(path);
        const std::string second =
            field("B", 4, fmt::format("<enumeratedValues derivedFrom=\"{}\"/>", path));
        CHECK(fields_of(with_field(first + second), 0x11) == "A=on B=on");
        CHECK(fields_of(with_field(second + first), 0x11) == "B=on A=on");
    }
    // Of another register.
    const std::string other = "<register><name>Q</name><addressOffset>4</addressOffset><fields>" +
                              first + "</fields></register>";
    for (const char* path : {"SWITCH", "A", "Q.A", "Q.A.SWITCH"}) {
        CAPTURE(path);
        CHECK(fields_of(
                  with_registers(
                      "<register><name>R</name><addressOffset>0</addressOffset><fields>" +
                      field("B", 4, fmt::format("<enumeratedValues derivedFrom=\"{}\"/>", path)) +
                      "</fields></register>" + other),
                  0x10) == "B=on");
    }
    CHECK(fields_of(with_field(field("B", 4, "<enumeratedValues derivedFrom=\"NONE\"/>")), 0x10) ==
          "B=1");
}

TEST_CASE("a value with bits of any value names all of them, behind exact ones") {
    const std::string modes =
        "<enumeratedValues>"
        "<enumeratedValue><name>run</name><value>0b01XX</value></enumeratedValue>"
        "<enumeratedValue><name>test</name><value>#1xXx</value></enumeratedValue>"
        "<enumeratedValue><name>stop</name><value>5</value></enumeratedValue>"
        "</enumeratedValues>";
    const std::string text = with_field(field("MODE", 0, modes));
    CHECK(fields_of(text, 4) == "MODE=run");
    CHECK(fields_of(text, 5) == "MODE=stop");
    CHECK(fields_of(text, 15) == "MODE=test");
    CHECK(fields_of(text, 0).empty());
    CHECK(wrong(with_field(field("M", 0, values("a", "#xxxxxxxxx", "")))) ==
          "chip.svd:3: <value>: '#xxxxxxxxx' stands for too many numbers");
    CHECK(wrong(with_field(field("M", 0, values("a", "#2", "")))) ==
          "chip.svd:3: <value>: '#2' is not a number");
}

TEST_CASE("values may have other names when they are written") {
    const std::vector<Description> all =
        peripherals_of(with_field(field("E", 0,
                                        values("Enabled", "1", "<usage>read</usage>") +
                                            values("Disable", "1", "<usage>write</usage>"))));
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].entries.size() == 2);
    for (const Entry& entry : all[0].entries) {
        CHECK(entry.first.name == "R");
        CHECK(fields_text(entry.first, 1, 4, 0) ==
              (allows(entry.direction, true) ? "E=Disable" : "E=Enabled"));
    }
}

TEST_CASE("peripherals, and elements of arrays, may be arrays") {
    const std::vector<Description> all = peripherals_of(
        "<device><peripherals><peripheral><dim>3</dim><dimIncrement>0x400</dimIncrement>"
        "<dimIndex>A-C</dimIndex><name>UART[%s]</name><baseAddress>0x2500000</baseAddress>"
        "<registers><register><name>P%sX</name><dim>2</dim><dimIncrement>4</dimIncrement>"
        "<dimIndex>4,7</dimIndex><addressOffset>0</addressOffset><size>16</size></register>"
        "<register derivedFrom=\"P7X\"><name>Q</name><addressOffset>8</addressOffset>"
        "</register></registers></peripheral><peripheral derivedFrom=\"UARTB\"><name>U"
        "</name><baseAddress>0x10</baseAddress></peripheral></peripherals></device>");
    REQUIRE(all.size() == 4);
    CHECK(all[2].name == "UARTC");
    CHECK(all[2].address == 0x2500800);
    CHECK(name_at(all[2], 4, true) == "P7X");
    CHECK(name_at(all[2], 9, true) == "Q+1");
    CHECK(name_at(all[2], 10, true) == "-");
    CHECK(name_at(all[3], 8, true) == "Q");
    CHECK(
        wrong("<device><peripherals><peripheral><dim>70000</dim><dimIncrement>4</dimIncrement>"
              "<name>U%s</name><baseAddress>0</baseAddress></peripheral></peripherals></device>") ==
        "chip.svd:1: more than 65536 registers, clusters and names of indices");
}

TEST_CASE("a device has the registers of all SVD peripherals in its address range") {
    RegisterBook book;
    book.add(
        peripherals_of("<device><peripherals>"
                       "<peripheral><name>TIMER</name><baseAddress>0x1000</baseAddress><registers>"
                       "<register><name>CTRL</name><addressOffset>0</addressOffset></register>"
                       "<register><name>DOG%s</name><dim>4</dim><dimIncrement>4</dimIncrement>"
                       "<addressOffset>0x98</addressOffset></register></registers></peripheral>"
                       "<peripheral><name>TICK</name><baseAddress>0x1000</baseAddress><registers>"
                       "<register><name>ALSO</name><addressOffset>4</addressOffset></register>"
                       "</registers></peripheral>"
                       "<peripheral><name>SPI0</name><baseAddress>0x2000</baseAddress><registers>"
                       "<register><name>CR</name><addressOffset>4</addressOffset></register>"
                       "</registers></peripheral>"
                       "<peripheral derivedFrom=\"SPI0\"><name>SPI1</name><baseAddress>0x3000"
                       "</baseAddress></peripheral></peripherals></device>"),
        {});
    const auto name = [&](std::uint64_t base, std::uint64_t size, std::uint64_t offset) {
        const Description* found = book.find({}, 0, {base, size});
        return found == nullptr ? "nothing" : name_at(*found, offset, true);
    };
    CHECK(name(0x1000, 0xa0, 0) == "CTRL");
    CHECK(name(0x1000, 0xa0, 4) == "ALSO"); // another peripheral at the same address
    CHECK(name(0x10a0, 0x20, 0) == "DOG2"); // inside a peripheral
    CHECK(name(0x10a0, 0x20, 4) == "DOG3");
    CHECK(name(0x10a0, 0x20, 8) == "-");
    CHECK(name(0x2000, 0x2000, 4) == "SPI0_CR"); // over several
    CHECK(name(0x2000, 0x2000, 0x1004) == "SPI1_CR");
    CHECK(name(0x3000, 0x1000, 4) == "CR");
    CHECK(name(0x4000, 0x1000, 4) == "nothing");
    CHECK(name(0x0, 0x1000, 4) == "nothing");
}
