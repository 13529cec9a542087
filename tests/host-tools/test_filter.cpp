// The filter language: which filters match which events.
#include "control/requests.hpp"
#include "filter/filter.hpp"
#include "registers/device_list.hpp"
#include "sample_event.hpp"
#include "tree_maker.hpp"

using namespace mmioscope;
using namespace mmioscope::test;
using filter::Filter;

namespace {

bool holds(const std::string& text, const Event& event) {
    return Filter(text)(event);
}

void check_all(const std::vector<const char*>& texts, const Event& event, bool expected) {
    for (const char* const text : texts) {
        INFO(text);
        CHECK(holds(text, event) == expected);
        CHECK(holds("!(" + std::string(text) + ")", event) != expected);
    }
}

} // namespace

TEST_CASE("a filter compares the numbers of an event") {
    const SampleEvent sample;
    check_all({"value==0x121",
               "value == 289",
               "value==0b100100001",
               "value>0x120",
               "value>=0x121",
               "value<0x122",
               "value<=0x121",
               "value!=0",
               "value in 0x100..0x1ff",
               "value in (1, 2, 0x121)",
               "value not in (1, 2)",
               "value & 0x20",
               "value & 0xf00 == 0x100",
               "size==4",
               "cpu==1",
               "pc==0xc0812344",
               "pc in 0xc0812000..0xc0812fff",
               "lr==0xc0900000",
               "sp==0xc1001f00",
               "va==0xf0001018",
               "pa==0x1c090018",
               "offset==0x18",
               "pid==57",
               "tgid==50",
               "seq==9",
               "order==9",
               "value < 1K",
               "size in 1..8",
               "mode==svc",
               "type==access",
               "dir==r",
               "dir!=w",
               "r",
               "read",
               "!w",
               "not write",
               "value",
               "type in (access, marker)"},
              sample.event(), true);
    check_all({"value==0x122",
               "value<0x121",
               "value>0x121",
               "value<0",
               "value>0xffffffffffffffff",
               "value & 2",
               "value & 0xf00 == 0x200",
               "cpu==0",
               "w",
               "user",
               "thumb",
               "emulated",
               "unknown",
               "early",
               "boot",
               "estimated",
               "type==marker",
               "value in (1, 2)",
               "value in 0x122..0x200",
               "mode==usr"},
              sample.event(), false);
}

TEST_CASE("a filter reads times in seconds or with a unit") {
    const SampleEvent sample;
    check_all({"time==1.5", "time==1500ms", "time==1500000us", "time==1500000000ns", "time>1s",
               "time in 1..2", "time in 1.4s..1600ms", "duration==40ns", "duration<1us"},
              sample.event(), true);
    check_all({"time<1.5", "time>1.500000000", "time in 2..3", "time==1.4999999999"},
              sample.event(), false);
}

TEST_CASE("a filter compares the names of an event") {
    const SampleEvent sample;
    check_all({"dev==serial0",
               "dev==serial*",
               "dev==*l0",
               "dev==se?ial0",
               "dev in (mmc*, serial0)",
               "dev!=mmc",
               "device==\"serial0\"",
               "reg==FR",
               "reg==fr",
               "reg==\"Fr\"",
               "register==F*",
               "func==pl011_tx_chars",
               "func==pl011_*",
               "func==pl011_read",
               "func =~ \"^pl011_(tx|rx)\"",
               "func !~ 'uart'",
               "function == \"pl011_tx_chars\"",
               "caller==uart_start",
               "module==kernel",
               "file==amba-pl011.c",
               "file==serial/amba-pl011.c",
               "file==drivers/*",
               "task==57",
               "task==kworker/0:1",
               "task==kworker*",
               "task==0xc1234560",
               "comm==kworker/0:1",
               "func",
               "reg",
               "dev",
               "task",
               "dev not in (a, b)"},
              sample.event(), true);
    check_all({"dev!=s*,x", "FR.MODE!=r*,x"}, sample.event(), true); // no lists
    check_all({"dev==s*,x", "FR.MODE==r*,x"}, sample.event(), false);
    check_all({"dev==serial", "dev==Serial0", "dev==\"serial*\"", "dev==mmc", "reg==DR",
               "func==pl011", "func =~ \"^tx\"", "func !~ chars", "caller==pl011_tx_chars",
               "module==snd_aaci", "file==pl011.c", "task==50", "task==5", "comm==57", "irq",
               "irq==37", "text", "dev==*x*", "dev==serial0?"},
              sample.event(), false);
}

TEST_CASE("a filter compares the bits of a register") {
    SampleEvent sample;
    check_all({"FR.TXFF==1", "FR.TXFF", "fr.txff", "!FR.BUSY", "field(TXFF)", "field(TXFF)==1",
               "field(FR, TXFF)", "*.MODE==run", "FR.MODE==1", "FR.MODE in (idle, run)",
               "FR.MODE in 1..3", "FR.MODE!=idle", "field(M*)==RUN", "FR.MODE & 1", "FR.MODE > 0"},
              sample.event(), true);
    check_all({"FR.TXFF==0", "FR.BUSY", "CR.TXFF", "FR.RXFE", "FR.RXFE==0", "FR.MODE==idle",
               "field(DR, TXFF)", "FR.MODE & 2"},
              sample.event(), false);
    SECTION("only the accessed bits of a partly accessed register") {
        sample.record.access = abi::encode_access(false, 0);
        sample.given.offset = 0x19;
        sample.record.value = 1;
        check_all({"FR.MODE==run"}, sample.event(), true);
        check_all({"FR.TXFF", "FR.TXFF==0", "FR.BUSY==0"}, sample.event(), false);
    }
    SECTION("not if the value is unknown") {
        sample.record.flags = abi::flag_value_unknown;
        check_all({"FR.TXFF", "FR.TXFF==0", "value==0x121", "value"}, sample.event(), false);
        check_all({"unknown", "reg==FR"}, sample.event(), true);
    }
}

TEST_CASE("an unknown property equals nothing") {
    const Event event = given_event(access(0, 0, 0));
    check_all({"reg==DR", "reg", "reg=~x", "reg in (a, b)", "func==a", "func", "caller==a",
               "task==1", "pid==0", "pid<5", "irq==0", "FR.X==0", "field(X)", "module==kernel",
               "file==*"},
              event, false);
    check_all({"reg!=DR", "!(reg==DR)", "reg !~ x", "reg not in (a, b)", "pid!=0", "dev==\"-\""},
              event, true);
}

TEST_CASE("a marker has a number and a text, and no direction") {
    abi::Record record = access(0, 0, 0);
    record.type = abi::RecordType::marker;
    record.value = 7;
    const Event event = given_event(record, {.text = "\"before\""});
    check_all(
        {"type==marker", "type==mark", "type==5", "text==*before*", "text =~ bef", "value==7"},
        event, true);
    check_all({"r", "w", "dir==r", "size==4", "offset==0", "pa", "emulated"}, event, false);
}

TEST_CASE("an acknowledged interrupt is matched by its name and by its number") {
    SampleEvent sample;
    sample.given.interrupt = "serial0";
    sample.record.value = 0x400 | 37;
    check_all({"irq==serial0", "irq==37", "interrupt==ser*"}, sample.event(), true);
    check_all({"irq==38", "irq==1061"}, sample.event(), false);
    sample.given.interrupt = "PPI 37 timer virt, mmc@50000";
    check_all({"irq==mmc*", "irq==timer", "irq=='timer virt'", "irq==mmc@50000", "irq=~mmc"},
              sample.event(), true);
    check_all({"irq==PPI", "irq==virt", "irq==mmc", "irq==''"}, sample.event(), false);
}

TEST_CASE("conditions are joined as in C") {
    const SampleEvent sample;
    check_all({"r && cpu==1", "r and cpu==1", "w || cpu==1", "w or cpu==1", "!w && !user",
               "w && cpu==0 || r", "r || w && cpu==0", "!(w || cpu==0)", "not (w and r)",
               "((((r))))", "!!r", " r&&cpu==1\t", "value&0x20&&r", "w||r||w"},
              sample.event(), true);
    check_all({"w && cpu==1", "(r || w) && cpu==0", "!(r || w)", "!r || w", "r && !r"},
              sample.event(), false);
}

TEST_CASE("an alias belongs to its device alone") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(abi::SectionType::device_tree, make_tree([](TreeMaker& make) {
                           make.node("aliases", [&] { make.strings("tty0", {"/uart@9000"}); });
                           for (const char* const name : {"uart@9000", "uart@a000"}) {
                               make.node(name, [&] {
                                   make.strings("compatible", {"acme,fast-uart", "acme,uart"});
                               });
                           }
                       }));
        write_regions(writer,
                      {region(0x9000, 0x1000, "/uart@9000"), region(0xa000, 0x1000, "/uart@a000")});
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    const auto devices = [&reader](const std::string& text) {
        Filter filter(text);
        filter.bind(reader);
        std::string found;
        for (std::uint16_t index = 0; index < 2; ++index) {
            abi::Record record = access(0, 0, 0);
            record.device = index;
            const Event event = given_event(record, {.device = reader.names()[index]});
            found += filter(event) ? std::to_string(index) : "";
        }
        return found;
    };
    CHECK(devices("dev==tty0") == "0");
    CHECK(devices("dev==uart@a000") == "1");
    CHECK(devices("dev==\"acme,fast-uart\"") == "01");
    CHECK(devices("dev==fast-uart") == "01");
    CHECK(devices("dev==tty1").empty());
}

TEST_CASE("a device is known by every name that its tree has for it") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus@8000000/motherboard/uart@90000"),
                               region(0x1c05'0000, 0x1000, "~rboard/mmc@50000")});
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    const auto device = [&reader](const std::string& text, std::uint16_t index) {
        Filter filter(text);
        filter.bind(reader);
        abi::Record record = access(0, 0, 0);
        record.device = index;
        return filter(given_event(record, {.device = reader.names()[index]}));
    };
    CHECK(device("dev==uart", 0));
    CHECK(device("dev==uart@90000", 0));
    CHECK(device("dev==motherboard/uart@90000", 0));
    CHECK(device("dev==/bus@8000000/motherboard/uart@90000", 0));
    CHECK(device("dev==/bus*", 0));
    CHECK(device("dev in (uart, mmc)", 1));
    CHECK_FALSE(device("dev==rt@90000", 0));
    CHECK_FALSE(device("dev==uart", 1));
    CHECK_FALSE(device("dev==uart", abi::no_device));
    CHECK(device("dev==\"-\"", abi::no_device));
    // The trace's clock has 1 MHz.
    CHECK(device("duration==1us", 0));
}

TEST_CASE("a filter accepts each name by which requests find a device") {
    wire::StreamHead head{};
    head.regions = {region(0x1000, 0x100, "/soc/uart@1000"),
                    region(0x2000, 0x100, "~bus/very-long@2000")};
    head.aliases = {{"serial0", "/soc/uart@1000"},
                    {"tty0", "/soc/uart@1000"},
                    {"long", "/soc/bus/very-long@2000"},
                    {"slow", "/soc/bus/very-long@2000"}};
    const std::vector<std::byte> bytes = trace_bytes([&head](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(abi::SectionType::device_tree, wire::alias_tree(head));
        write_regions(writer, head.regions);
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    const std::array<std::vector<const char*>, 2> names = {{
        {"serial0", "tty0", "/soc/uart@1000", "soc/uart@1000", "uart@1000", "uart"},
        {"long", "slow", "/soc/bus/very-long@2000", "bus/very-long@2000", "~bus/very-long@2000",
         "very-long@2000", "very-long"},
    }};
    for (std::uint16_t device = 0; device < names.size(); ++device) {
        abi::Record record = access(0, 0, 0);
        record.device = device;
        for (const char* const name : names[device]) {
            CAPTURE(name);
            Filter filter(fmt::format("dev==\"{}\"", name));
            CHECK(filter.bind(reader).empty());
            CHECK(filter(given_event(record, {.device = reader.names()[device]})));
            CHECK(control::find_device(head, name).front().base == head.regions[device].base);
        }
    }
    CHECK(registers::list_devices(reader.regions(), reader.tree())[1].alias == "slow");
}
