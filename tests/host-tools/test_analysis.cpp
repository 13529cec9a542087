// Counts, rates, mappings, PCI functions, and the place of the kernel's log.
#include "../sim/random.hpp"
#include "analysis/analyses.hpp"
#include "analysis/count_table.hpp"
#include "analysis/pci.hpp"
#include "random_trace.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "system/byte_source.hpp"
#include "table/table.hpp"
#include "trace_text.hpp"
#include "view/top_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;
using analysis::Counts;
using analysis::Key;

namespace {

/// The source of events' names.
struct OfNames {
    TraceText text;
    std::deque<Location> locations;
};

/// Calls `take` with each event of a trace given as text. Names are valid as long as the result.
template <typename Take>
OfNames each(const std::string& lines, const Take& take) {
    std::istringstream in(lines);
    OfNames of{read_trace_text(in), {}};
    auto& [text, locations] = of;
    for (const abi::Record& record : text.records) {
        Given given;
        given.nanoseconds = record.time * 1000;
        const bool named = record.device != abi::no_device;
        given.device = named ? text.regions[record.device].path + 1 : "-";
        given.offset =
            abi::physical_address(record) - (named ? text.regions[record.device].base : 0);
        add_names(given, record, text, locations);
        take(given_event(record, given));
    }
    return of;
}

std::string counted(Key key, const std::string& lines, const analysis::TableOptions& options = {}) {
    Counts counts({key});
    const OfNames names = each(lines, [&counts](const Event& event) { counts.add(event); });
    return table::text(analysis::count_table(key, counts.by(key), options));
}

const std::string two_devices = R"(
device uart 0x1000 0x1000
device mmc 0x2000 0x1000
register uart 0x18 FR TXFE:7
code 0xc000 0x100 putc
code 0xd000 0x100 write
task 0x77 12 sh
0.1 cpu0 R4 0x1018 0x80 pc=0xc010 lr=0xd010 task=0x77 duration=4
0.2 cpu0 W1 0x1000 0x41 pc=0xc020 lr=0xd010 task=0x77
0.3 cpu1 R4 0x1018 0x10 pc=0xc010 duration=10
0.4 cpu1 R4 0x2000 ? pc=0xe000 lr=0xe100
0.5 cpu1 interrupt value=37
0.6 cpu1 gap value=4
)";

} // namespace

TEST_CASE("accesses are counted by each key") {
    CHECK_THAT(counted(Key::device, two_devices),
               Catch::Contains("\nuart                             2         1") &&
                   Catch::Contains("\nmmc                              1         0"));
    CHECK_THAT(counted(Key::reg, two_devices),
               Catch::Contains("uart FR") && Catch::Contains("0x10..0x80") &&
                   Catch::Contains("uart +0x000") && Catch::Contains("  ?\n"));
    CHECK_THAT(counted(Key::function, two_devices),
               Catch::Contains("putc  ") && Catch::Contains("0x0000e000"));
    CHECK_THAT(counted(Key::caller, two_devices),
               Catch::Contains("write  ") && Catch::Contains("0x0000e100"));
    // An unknown caller does not make a function its own caller.
    CHECK_THAT(counted(Key::caller, two_devices),
               Catch::Contains("(unknown)  ") && !Catch::Contains("putc"));
    CHECK_THAT(counted(Key::task, two_devices), Catch::Contains("sh:12 "));
    CHECK_THAT(counted(Key::cpu, two_devices), Catch::Contains("cpu1 "));
    CHECK_THAT(counted(Key::interrupt, two_devices), Catch::Contains("interrupt 37 "));
    CHECK_THAT(counted(Key::size, two_devices), Catch::Contains("1 bytes "));
}

TEST_CASE("a table honours its order and limit, and has rates and times") {
    const analysis::TableOptions options{analysis::Order::accesses, 1, 500'000'000, 0, 1'000'000};
    CHECK(counted(Key::device, two_devices, options) ==
          "device                       reads    writes     %      per s   access s time %   "
          "mean us    max us\n"
          "uart                             2         1  75.0        6.0   0.000015   93.8   "
          "   5.00     10.00\n"
          "... 1 more\n");
    const analysis::TableOptions by_name{analysis::Order::name, 0, 0, 0, 0};
    const std::string table = counted(Key::device, two_devices, by_name);
    CHECK(table.find("\nmmc") < table.find("\nuart"));
}

TEST_CASE("counts of random accesses equal those of a simple model") {
    std::mt19937 random(7);
    std::map<std::string, std::pair<unsigned, unsigned>> model;
    Counts counts({Key::reg});
    for (unsigned i = 0; i < 20'000; ++i) {
        abi::Record record{};
        record.type = abi::RecordType::access;
        const bool write = random() % 3 == 0;
        record.access = abi::encode_access(write, 2);
        const std::string device(1, static_cast<char>('a' + random() % 5));
        const Event event = given_event(record, {.device = device, .offset = random() % 7 * 4});
        counts.add(event);
        auto& [reads, writes] = model[fmt::format("{} +{:#05x}", device, event.offset())];
        ++(write ? writes : reads);
    }
    REQUIRE(counts.by(Key::reg).held().size() == model.size());
    for (const auto& [name, count] : counts.by(Key::reg).held()) {
        CHECK(count.reads == model[name].first);
        CHECK(count.writes == model[name].second);
    }
}

TEST_CASE("rates cover the time since the last look") {
    Counts counts({Key::device});
    each(two_devices, [&counts](const Event& event) { counts.add(event); });
    analysis::Rates rates;
    rates.look(Key::device, counts.by(Key::device), 0.5);
    const auto first = rates.shown({});
    REQUIRE(first.rows.size() == 2);
    CHECK(first.rows[0].name == "uart");
    CHECK(first.rows[0].per_second == Approx(6));
    rates.look(Key::device, counts.by(Key::device), 1);
    CHECK(rates.shown({}).rows[0].per_second == 0);
    rates.look(Key::device, counts.by(Key::device), 0);
    CHECK(rates.shown({}).rows[0].per_second == 0);
    CHECK(rates.shown({}).rows[0].count.accesses() == 3);
}

TEST_CASE("the screen has as many lines and columns as the terminal") {
    Counts counts({Key::device});
    each(two_devices, [&counts](const Event& event) { counts.add(event); });
    analysis::Rates rates;
    rates.look(Key::device, counts.by(Key::device), 1);
    const analysis::ShownRates all = rates.shown({});
    const auto lines =
        view::top_screen({"file", "ended", 600'000'000, 4, 4, 6.7}, {}, all, 24, 200);
    REQUIRE(lines.size() == 6);
    CHECK(lines[0] == "mmioscope top file: 0.600 s, 4 events, 7/s, 4 lost, ended");
    CHECK(lines[3] == "         3          2          1   93.8  uart");
    CHECK(lines[5] == "         4          3          1  100.0  total");
    const auto small = view::top_screen({}, {}, all, 4, 10);
    REQUIRE(small.size() == 4);
    CHECK(small[2] == "per s"); // no room for more columns
    CHECK(small[3] == "    4"); // the total
    CHECK(view::top_screen({}, {}, all, 1, 10).size() == 1);
}

TEST_CASE("top counts by each key, as of the last look") {
    view::TopCounts counts;
    const auto add = [&counts](const Event& event) { counts.add(event); };
    const auto lines = [&counts](Key key) {
        std::string all;
        view::TopLook look;
        look.key = key;
        for (const std::string& line :
             view::top_screen(counts.head, look, counts.rates(look), 24, 200)) {
            all += line + "\n";
        }
        return all;
    };
    counts.head.name = "file";
    each(two_devices, add);
    CHECK_THAT(lines(Key::device), Catch::Contains("top file: 0.600 s, 4 events, 0/s, 4 lost") &&
                                       !Catch::Contains("uart"));
    counts.look();
    CHECK_THAT(lines(Key::device), Catch::Contains(" 4 events, 7/s, 4 lost") &&
                                       Catch::Contains(" 5          2          1   93.8  uart\n") &&
                                       Catch::Contains(" 2          1          0    6.2  mmc\n"));
    CHECK_THAT(lines(Key::cpu), Catch::Contains("  cpu0\n") && Catch::Contains("  cpu1\n"));
    CHECK_THAT(lines(Key::reg), Catch::Contains("  uart FR\n"));
    CHECK_THAT(lines(Key::cpu), Catch::Contains(" time %  "));
    CHECK_THAT(lines(Key::interrupt),
               Catch::Contains("writes  interrupt\n") && Catch::Contains("          0  total\n"));
    each("device uart 0x1000 0x1000\n1.6 cpu0 R4 0x1018 0x80\n", add);
    // Before the first look.
    CHECK_THAT(lines(Key::device), Catch::Contains(" 2          1   93.8  uart\n"));
    counts.look();
    CHECK_THAT(lines(Key::device), Catch::Contains("1.600 s, 5 events, 1/s, 4 lost") &&
                                       Catch::Contains(" 1          3          1   94.1  uart\n") &&
                                       Catch::Contains(" 0          1          0    5.9  mmc\n"));
    counts.look(); // no time has passed
    CHECK_THAT(lines(Key::device), Catch::Contains(" 5 events, 0/s, "));
}

TEST_CASE("each mapping is listed once, with its first user") {
    const auto mappings = analysis::make_mappings();
    each(two_devices + R"(
0.7 cpu0 R4 0x1004 1 pc=0xc010 lr=0xd010 task=0x77 va=0xf0001004
0.8 cpu0 R4 0x1008 1 pc=0xe000 va=0xf0001008
0.9 cpu0 R4 0x2008 1 pc=0xe000 va=0xf0001008
)",
         [&mappings](const Event& event) { mappings->add(event); });
    const std::string table = table::text(mappings->table());
    CHECK_THAT(table, Catch::Contains("    0.700000 0xf0001000 0x0000001000  uart                "
                                      "             2  putc <- write  sh:12\n"));
    CHECK_THAT(table, Catch::Contains("0xf0001000 0x0000002000  mmc"));
    CHECK(std::count(table.begin(), table.end(), '\n') == 5);
}

TEST_CASE("mappings whose pages differ by the number of remembered pages are listed separately") {
    const auto mappings = analysis::make_mappings();
    each(R"(
device memory 0x100000 0x100000
0.1 cpu0 R4 0x100000 1 pc=0xc010 va=0xf0000000
0.2 cpu0 R4 0x140000 1 pc=0xc010 va=0xf0000000
0.3 cpu0 R4 0x100000 1 pc=0xc010 va=0xf0000000
)",
         [&mappings](const Event& event) { mappings->add(event); });
    const std::string table = table::text(mappings->table());
    CHECK_THAT(table,
               Catch::Contains("0xf0000000 0x0000100000  memory                           2  pc"));
    CHECK_THAT(table,
               Catch::Contains("0xf0000000 0x0000140000  memory                           1  pc"));
}

namespace {

/// Reads the events of a random trace.
template <typename Take, typename Forget>
void read_random(const RandomTrace& random, const Take& take, const Forget& forget) {
    MemorySource source(random.bytes);
    reading::TraceOptions options;
    options.report = [](const std::string&) {};
    reading::Trace trace(options, source);
    trace.on_forget(forget);
    for (std::span<const Event> events; !(events = trace.next_events(64)).empty();) {
        take(events);
    }
    forget(); // names become invalid
}

} // namespace

// Places and CPUs are enough for some keys; others need contexts.
TEST_CASE("counts of one key equal those made with all keys") {
    const RandomTrace random(GENERATE(range(1u, 1 + sim::seeds(1))), 20'000);
    std::deque<Counts> counts;
    counts.emplace_back(analysis::all_keys());
    for (const Key key : analysis::all_keys()) {
        counts.emplace_back(std::vector{key});
    }
    read_random(
        random,
        [&counts](std::span<const Event> events) {
            for (Counts& some : counts) {
                some.add_all(events);
            }
        },
        [&counts] { std::ranges::for_each(counts, &Counts::forget); });
    for (std::size_t i = 1; i < counts.size(); ++i) {
        const Key key = analysis::all_keys()[i - 1];
        CAPTURE(analysis::key_text(key));
        const auto text = [key](Counts& of) {
            return table::text(analysis::count_table(key, of.by(key), {}));
        };
        CHECK(text(counts[i]) == text(counts[0]));
    }
}

TEST_CASE("counts and mappings beyond the limit are left out and counted, and the others exact") {
    const RandomTrace random(GENERATE(range(1u, 1 + sim::seeds(1))), 20'000);
    Counts all(analysis::all_keys());
    Counts few(analysis::all_keys(), 3);
    const auto all_mappings = analysis::make_mappings(100'000);
    const auto few_mappings = analysis::make_mappings(3);
    read_random(
        random,
        [&](std::span<const Event> events) {
            all.add_all(events), few.add_all(events);
            all_mappings->add_all(events), few_mappings->add_all(events);
        },
        [&] { all.forget(), few.forget(); });
    const auto rows = [](const table::Table& table) {
        std::istringstream csv(table::csv(std::span(&table, 1)));
        std::set<std::string> lines;
        for (std::string line; std::getline(csv, line);) {
            lines.insert(line);
        }
        return lines;
    };
    bool any_left_out = false;
    for (const Key key : analysis::all_keys()) {
        CAPTURE(analysis::key_text(key));
        const analysis::TableOptions options{
            analysis::Order::time, 0, 1'000'000, 0, 1'000'000, true};
        const table::Table whole = analysis::count_table(key, all.by(key), options);
        const table::Table part = analysis::count_table(key, few.by(key), options);
        CHECK(whole.left_out.empty());
        CHECK(std::ranges::includes(rows(whole), rows(part))); // with the same total
        std::uint64_t missing = 0;
        for (const auto& [name, count] : all.by(key).held()) {
            missing += few.by(key).held().contains(name) ? 0 : count.accesses();
        }
        CHECK(few.by(key).rest().accesses() == missing);
        CHECK(part.left_out.size() == (missing > 0 ? 1 : 0));
        any_left_out = any_left_out || missing > 0;
    }
    CHECK(any_left_out);
    const table::Table mappings = few_mappings->table();
    CHECK(rows(mappings).size() == 1 + 3);
    CHECK(std::ranges::includes(rows(all_mappings->table()), rows(mappings)));
    REQUIRE(mappings.left_out.size() == 1);
    CHECK_THAT(mappings.left_out[0],
               Catch::Contains(" accesses through mappings beyond the first 3 are left out: "));
}

TEST_CASE("PCI functions are recognized by the accesses to their configuration space") {
    analysis::Pci pci;
    each(R"(
device pcie@10000000 0x3f000000 0x1000000
device uart 0x1000 0x1000
0.1 cpu0 R4 0x3f000000 0x00081b36
0.2 cpu0 R4 0x3f008000 0x10001af4
0.2 cpu0 R4 0x3f010000 0xffffffff     # nothing there
0.3 cpu0 R4 0x3f008008 0x02000000
0.4 cpu0 W4 0x3f008010 0xffffffff
0.5 cpu0 R4 0x3f008010 0xffffffe1
0.6 cpu0 W4 0x3f008010 0x00001001
0.7 cpu0 W4 0x3f008014 0xffffffff
0.8 cpu0 R4 0x3f008014 0xfffff000
0.9 cpu0 W4 0x3f008014 0x10000000
1.0 cpu0 R4 0x1000 0x12345678
)",
         [&pci](const Event& event) { pci.add(event); });
    CHECK(table::text(pci.table()) ==
          "function     id         class   BARs\n"
          "00:00.0      1b36:0008  ?\n"
          "00:01.0      1af4:1000  020000  0=0x1000+0x20 1=0x10000000+0x1000\n");
}

TEST_CASE("a 64-bit BAR is one BAR, and a bridge has two BARs") {
    analysis::Pci pci;
    each(R"(
device pcie@10000000 0x3f000000 0x1000000
0.1 cpu0 R4 0x3f008000 0x10051af4
0.1 cpu0 R1 0x3f00800e 0x80
0.2 cpu0 W4 0x3f008020 0xffffffff
0.2 cpu0 R4 0x3f008020 0xffffc00c
0.2 cpu0 W4 0x3f008020 0xc
0.2 cpu0 W4 0x3f008024 0xffffffff
0.2 cpu0 R4 0x3f008024 0xffffffff
0.2 cpu0 W4 0x3f008024 0
0.3 cpu0 W4 0x3f008020 0x1012000c
0.3 cpu0 W4 0x3f008024 0x2
0.4 cpu0 R4 0x3f018000 0x00011b36
0.4 cpu0 R1 0x3f01800e 0x01
0.5 cpu0 W4 0x3f018010 0xffffffff
0.5 cpu0 R4 0x3f018010 0xffffff04
0.5 cpu0 W4 0x3f018014 0xffffffff
0.5 cpu0 R4 0x3f018014 0xffffffff
0.5 cpu0 W4 0x3f018010 0x10125004
0.5 cpu0 W4 0x3f018014 0
0.6 cpu0 W4 0x3f018018 0x000f0100     # bus numbers
0.7 cpu0 R4 0x3f020000 0x12345678
0.7 cpu0 W4 0x3f020010 0xffffffff
0.7 cpu0 R4 0x3f020010 0x0000ffe1     # only 16 bits of ports
)",
         [&pci](const Event& event) { pci.add(event); });
    CHECK(table::text(pci.table()) == "function     id         class   BARs\n"
                                      "00:01.0      1af4:1005  ?       4=0x210120000+0x4000\n"
                                      "00:03.0      1b36:0001  ?       0=0x10125000+0x100\n"
                                      "00:04.0      5678:1234  ?       0=0x0+0x20\n");
}

TEST_CASE("the ROM, the kinds of BARs and the interrupt of a PCI function are recognized") {
    analysis::Pci pci;
    each(R"(
device pcie@10000000 0x3f000000 0x1000000
0.1 cpu0 R4 0x3f108000 0x10051af4
0.1 cpu0 R1 0x3f10803c 0x05
0.2 cpu0 W4 0x3f108014 0x1001         # not asked for its size
0.2 cpu0 W4 0x3f108020 0xffffffff
0.2 cpu0 R4 0x3f108020 0xffffc008
0.2 cpu0 W4 0x3f108020 0x10120008
0.3 cpu0 W4 0x3f108030 0xfffff800
0.3 cpu0 R4 0x3f108030 0xffff0000
0.3 cpu0 W4 0x3f108030 0x10130001
0.4 cpu0 W2 0x3f10803c 0x1234         # no byte
)",
         [&pci](const Event& event) { pci.add(event); });
    const std::vector<analysis::PciFunction> all = pci.functions();
    REQUIRE(all.size() == 1);
    CHECK((all[0].place == 0x108 && all[0].interrupt == 5 && !all[0].class_));
    const auto is = [&all](std::size_t n, std::uint64_t base, std::uint64_t size, unsigned kind) {
        const analysis::PciRange& range = all[0].ranges[n];
        return range.base == base && range.size == size && range.kind == kind;
    };
    CHECK(is(1, 0x1000, 0, 1));
    CHECK(is(4, 0x1012'0000, 0x4000, 8));
    CHECK(is(analysis::pci_rom, 0x1013'0000, 0x1'0000, 1));
}
