// The function of an address, and the names of events.
#include "allocations.hpp"
#include "file/texts.hpp"
#include "reading/naming.hpp"
#include "records.hpp"
#include "records/module_table.hpp"
#include "symbol_text.hpp"
#include "symbols/kernel_image.hpp"
#include "symbols/section.hpp"
#include "symbols/symbols.hpp"
#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <random>
#include <set>
#include <tuple>

using namespace mmioscope;
using namespace mmioscope::test;
using symbols::FunctionTable;
using symbols::Symbols;
using symbols::Trust;

namespace {

constexpr char list[] = "c0400000 T _stext\n"
                        "c0400000 T first\n"
                        "c0400010 t $a\n"
                        "c0400020 t .L5\n"
                        "c0400030 W alias\n"
                        "c0400030 T second\n"
                        "c0400040 D table\n"
                        "c0400050 t third\n"
                        "c0400100 D _etext\n"
                        "c1000000 T late\n"
                        "c1000100 T _einittext\n"
                        "bf000000 t $a\t[drv]\n"
                        "bf000000 t probe\t[drv]\n"
                        "bf000080 t remove\t[drv]\n";

std::unique_ptr<FunctionTable> table(const char* text) {
    return std::make_unique<FunctionTable>(symbols::read_kallsyms(text));
}

std::string text(const Location* location) {
    return location == nullptr ? "-"
                               : fmt::format("{}+{:#x}{}{}", location->function, location->offset,
                                             location->module.empty() ? "" : " ", location->module);
}

/// The address of an instruction.
std::string at(const Symbols& symbols, std::uint32_t address) {
    Location location;
    return symbols.locate(address & ~1u, location) ? text(&location) : "-";
}

/// The address of a call that returns to `address`.
std::string caller(const Symbols& symbols, std::uint32_t address) {
    Location location;
    return symbols.locate((address & ~1u) - 1, location) ? text(&location) : "-";
}
} // namespace

TEST_CASE("an address belongs to the function that begins at or before it") {
    Symbols all;
    all.add(Trust::text, table(list));
    const std::vector<std::pair<std::uint32_t, std::string>> expected{
        {0xc03f'fffe, "-"},
        {0xc040'0000, "_stext+0x0"},
        {0xc040'0001, "_stext+0x0"}, // Thumb
        {0xc040'002c, "_stext+0x2c"},
        {0xc040'0034, "alias+0x4"},
        {0xc040'0044, "-"},
        {0xc040'0050, "third+0x0"},
        {0xc040'00fe, "third+0xae"},
        {0xc040'0100, "-"},
        {0xc100'00fe, "late+0xfe"},
        {0xc100'0100, "-"},
        {0xbf00'0010, "probe+0x10 drv"},
        {0xbf00'0080, "remove+0x0 drv"},
        {0xbf01'007e, "remove+0xfffe drv"},
        {0xbf01'0080, "-"}, // far after the last one
        {0, "-"},
        {0xffff'ffff, "-"},
    };
    for (const auto& [address, name] : expected) {
        CAPTURE(address);
        CHECK(at(all, address) == name);
    }
}

TEST_CASE("the end of the kernel's text is not a function, whatever its type") {
    Symbols all;
    all.add(Trust::text, table("c0400000 T first\nc0400100 T _etext\nc0400200 T _einittext\n"));
    CHECK(at(all, 0xc040'00fc) == "first+0xfc");
    CHECK(at(all, 0xc040'0104) == "-");
    CHECK(at(all, 0xc040'0204) == "-");
}

TEST_CASE("a return address belongs to the call before it") {
    Symbols all;
    all.add(Trust::text, table(list));
    CHECK(caller(all, 0xc040'0030) == "_stext+0x30"); // the call does not return
    CHECK(caller(all, 0xc040'0035) == "alias+0x4");
    CHECK(caller(all, 0xc040'0000) == "-");
    CHECK(at(all, 0xc040'0030) == "alias+0x0");
}

TEST_CASE("the most trusted source that knows an address names it") {
    Symbols all;
    all.add(Trust::image, table("c0400000 T of_image\nc0400100 T more\nc0400200 D _etext\n"));
    all.add(Trust::text, table("c0400000 T of_text\nc0400080 D _etext\n"));
    all.add(Trust::text, table("c0400000 T of_another\n"));
    all.add_module({"drv", 0xbf00'0000, 0x1000});
    all.add_module({"net", 0xbf00'2000, 0x100}, {{0xbf00'2000, 't', "send", {}}});
    CHECK(at(all, 0xc040'0000) == "of_text+0x0");
    CHECK(at(all, 0xc040'0090) == "of_another+0x90");
    CHECK(at(all, 0xbf00'0ffe) == "+0xffe drv");
    CHECK(at(all, 0xbf00'1000) == "-");
    CHECK(at(all, 0xbf00'20fe) == "send+0xfe net");
    CHECK(at(all, 0xbf00'2100) == "-");
}

TEST_CASE("lists of symbols are read as they are written") {
    const symbols::SymbolList read = symbols::read_kallsyms(list);
    CHECK(test::kallsyms_text(read) == list);
    CHECK(read.back() == symbols::Symbol{0xbf00'0080, 't', "remove", "drv"});
    CHECK(symbols::read_kallsyms("").empty());
    CHECK(symbols::read_kallsyms("\nc0008000 T last").size() == 1);
    CHECK(symbols::read_kallsyms("ffffffffc0a00100 t probe [drv]").at(0).address == 0xc0a0'0100);
    const auto fails = [](const char* text, const char* why) {
        CAPTURE(text);
        CHECK_THROWS_WITH(symbols::read_kallsyms(text), Catch::Contains(why));
    };
    fails("c0008000 T a\nc0008000 T\n", "line 2 is not a symbol");
    fails("c000800g T a\n", "line 1 is not a symbol");
    fails("ffff800081000000 T a\n", "of 64-bit addresses only those of x86-64 kernels are read");
    fails("c0008000 Tt a\n", "line 1 is not a symbol");
    fails("c0008000 T a mod\n", "line 1 is not a symbol");
    fails("c0008000 T a [mod] b\n", "line 1 is not a symbol");
    fails("c0008000 T a\x1b[2J\n", "line 1 is not a symbol"); // a control character
    fails("00000000 T a\n00000000 t b\n", "all addresses are 0");
}

TEST_CASE("names that are not plain text are refused") {
    for (const char* line : {"c0000000 T \x1b[31mred", "c0000000 T f\x7f", "c0000000 T f [m\a]",
                             "c0000000 \x1b f", "c0000000 T g\xc3\xa4"}) {
        CHECK_THROWS_WITH(symbols::read_kallsyms(line),
                          "line 1 is not a symbol (address type name [module])");
    }
}

TEST_CASE("a list of more symbols than a kernel has is refused") {
    constexpr std::string_view line = "1 t a\n";
    std::string text;
    for (std::size_t i = 0; i < 1u << 24; ++i) {
        text += line;
    }
    const Allocations read;
    CHECK_THROWS_WITH(symbols::read_kallsyms(text), "it has more than 4194304 lines of symbols");
    CHECK(read.bytes() < 1u << 20);
}

TEST_CASE("an access of the kernel has its function, and its caller if that is another function") {
    const std::vector<std::byte> bytes = trace_bytes([](trace::FileWriter& writer) {
        write_info(writer);
        abi::Record record = access(0, 0, 0);
        record.pc = 0xbf00'0014;
        record.lr = 0xc040'0058;
        writer.append(std::span(&record, 1)); // called from another function
        record.lr = 0xbf00'0030;
        writer.append(std::span(&record, 1)); // called by the function itself
        record.lr = 0;
        writer.append(std::span(&record, 1));
        record.mode = 0x10;
        writer.append(std::span(&record, 1)); // a process
        record.mode = 0x1f | abi::mode_thumb;
        record.pc |= 1;
        writer.append(std::span(&record, 1));
        record.type = abi::RecordType::own;
        writer.append(std::span(&record, 1)); // the hypervisor
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    naming.symbols().add(Trust::text, table(list));
    std::string named;
    for (const abi::Record& record : reader.next()) {
        const Event event = naming.event(record);
        named += text(event.code()) + " < " + text(event.caller()) + "\n";
    }
    CHECK(named == "probe+0x14 drv < third+0x8\n"
                   "probe+0x14 drv < -\n"
                   "probe+0x14 drv < -\n"
                   "- < -\n"
                   "probe+0x14 drv < -\n"
                   "- < -\n");
}

TEST_CASE(
    "a return address at the end of a module's function belongs to the function with the call") {
    const std::string modules = "module drv bf800000 4096 live 5\ntext bf800000 4096\n"
                                "bf800000 t probe [drv]\nbf800040 t never_back [drv]\n";
    const std::vector<std::byte> bytes = trace_bytes([&modules](trace::FileWriter& writer) {
        write_info(writer);
        writer.section(trace::modules_section, std::as_bytes(std::span(modules)));
        abi::Record record = access(0, 0, 10);
        record.pc = 0xc040'0000;
        record.lr = 0xbf80'0040; // after the last instruction of probe
        writer.append(std::span(&record, 1));
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    reading::Naming naming(reader);
    naming.symbols().add(Trust::text, table(list));
    CHECK(text(naming.event(reader.next().front()).caller()) == "probe+0x40 drv");
}

namespace {

// Several at one address, of all types, with gaps larger than a function can be.
symbols::SymbolList random_symbols(std::mt19937& random) {
    symbols::SymbolList all;
    const auto below = [&random](unsigned limit) {
        return static_cast<unsigned>(random() % limit);
    };
    std::uint32_t address = 0xc000'0000 + below(64) * 4;
    for (unsigned i = 0, count = below(40); i < count; ++i) {
        const std::string name = i % 9 == 0 ? "_etext" : fmt::format("f{}", i);
        all.push_back({address, "tTwWdDb"[below(7)], name, below(4) == 0 ? "drv" : ""});
        address += below(3) == 0 ? 0 : below(12) == 0 ? 0x2'0000 : 4 * below(16);
    }
    return all;
}

symbols::SymbolList in_order(symbols::SymbolList all) {
    std::erase_if(all, [](const auto& symbol) { return symbols::is_mark(symbol.name); });
    std::ranges::stable_sort(all, {}, &symbols::Symbol::address);
    return all;
}

std::multiset<std::string> names_in(symbols::Source& source) {
    std::multiset<std::string> names;
    source.each_function([&names](std::string_view name) { names.emplace(name); });
    return names;
}

symbols::SharedBytes shared(std::vector<std::byte> bytes) {
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

} // namespace

TEST_CASE("a section of symbols has the same functions as a table of them") {
    std::mt19937 random(1);
    unsigned found = 0;
    for (unsigned round = 0; round < 300; ++round) {
        const symbols::SymbolList all = random_symbols(random);
        symbols::SectionFunctions section([&] { return shared(symbols::pack(all)); },
                                          [](const std::string& text) { FAIL(text); });
        FunctionTable table(all);
        const std::multiset<std::string> names = names_in(section);
        REQUIRE(names == names_in(table));
        const std::uint32_t end = all.empty() ? 0xc000'1000 : all.back().address + 0x2'0000;
        for (unsigned i = 0; i < 200; ++i) {
            const std::uint32_t address =
                all.empty() || i % 2 == 0
                    ? static_cast<std::uint32_t>(0xbfff'fff0 + random() % (end - 0xbfff'fff0))
                    : static_cast<std::uint32_t>(all[random() % all.size()].address + random() % 3 -
                                                 1);
            Location one;
            Location other;
            const bool known = section.locate(address, one);
            REQUIRE(known == table.locate(address, other));
            REQUIRE(std::tie(one.function, one.offset, one.module) ==
                    std::tie(other.function, other.offset, other.module));
            REQUIRE((!known || section.reach().has(address)));
            REQUIRE((!known || names.contains(one.function)));
            found += known ? 1 : 0;
        }
    }
    CHECK(found > 10'000);
}

TEST_CASE("a section of only the used symbols gives each used address the same name") {
    std::mt19937 random(2);
    std::size_t kept = 0, left_out = 0;
    for (unsigned round = 0; round < 300; ++round) {
        const symbols::SymbolList all = random_symbols(random);
        const std::vector<std::byte> whole = symbols::pack(all);
        if (whole.empty()) {
            continue;
        }
        const std::uint32_t end = all.back().address + 0x2'0000;
        std::vector<std::uint32_t> used(random() % 60);
        std::ranges::generate(used, [&] {
            return random() % 2 == 0
                       ? static_cast<std::uint32_t>(0xbfff'fff0 + random() % (end - 0xbfff'fff0))
                       : static_cast<std::uint32_t>(all[random() % all.size()].address - 1 +
                                                    random() % 3);
        });
        std::ranges::sort(used);
        const std::vector<std::byte> part = symbols::only_used(whole, used);
        const auto functions = [](const std::vector<std::byte>& payload) {
            return symbols::SectionFunctions([&payload] { return shared(payload); },
                                             [](const std::string& text) { FAIL(text); });
        };
        symbols::SectionFunctions before = functions(whole), after = functions(part);
        for (const std::uint32_t address : used) {
            Location one, other;
            REQUIRE(before.locate(address, one) == after.locate(address, other));
            REQUIRE(std::tie(one.function, one.offset, one.module) ==
                    std::tie(other.function, other.offset, other.module));
        }
        const std::size_t count = symbols::unpack(part).size();
        kept += count;
        left_out += symbols::unpack(whole).size() - count;
    }
    CHECK(kept > 1'000);
    CHECK(left_out > 1'000);
}

TEST_CASE("a section of symbols is sorted by address, and divided into blocks") {
    const auto back = [](const symbols::SymbolList& all) {
        return symbols::unpack(symbols::pack(all));
    };
    // Symbols at one address keep the order of the list. Mapping symbols, and names that are not
    // plain, are left out.
    const symbols::Symbol a{4, 'T', "a", ""}, b{4, 't', "b", "m"}, c{0, 'd', "c", ""};
    CHECK(back({a, b, c}) == symbols::SymbolList{c, a, b});
    CHECK(back({{8, 't', "$a", ""}, {8, 't', ".L1", ""}, {8, 't', "x y", ""}, b}) ==
          symbols::SymbolList{b});
    // Many, more than stay unpacked, and long ones, which fill a block each.
    symbols::SymbolList many;
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        const bool is_long = i % 7'000 == 5;
        many.push_back(
            {4 * i, 'T', std::string(is_long ? 60'000 : 1, 'n') + std::to_string(i), ""});
    }
    const std::vector<std::byte> payload = symbols::pack(many);
    CHECK(symbols::unpack(payload) == many);
    symbols::PackedSymbols packed(shared(payload));
    std::mt19937 random(2);
    for (unsigned i = 0; i < 2'000; ++i) {
        const std::size_t at = random() % many.size();
        REQUIRE(packed.symbol(at) == many[at]);
    }
    // The limit for one address.
    CHECK(back(symbols::SymbolList(1'000, a)).size() == 256);
    CHECK_THROWS_WITH(symbols::pack(symbols::SymbolList{{0, 'T', std::string(70'000, 'n'), ""}}),
                      Catch::Contains("too long"));
}

TEST_CASE("the functions of a trace are unpacked on first use") {
    const symbols::SymbolList all = {{0xc000'9000, 'T', "second", ""},
                                     {0xc000'8000, 'T', "one", ""}};
    for (const bool sound : {true, false}) {
        std::vector<std::byte> payload = symbols::pack(all);
        payload.resize(sound ? payload.size() : payload.size() / 2);
        unsigned asked = 0;
        std::string reported;
        symbols::SectionFunctions functions(
            [&] {
                ++asked;
                return shared(payload);
            },
            [&reported](const std::string& text) { reported += text; });
        CHECK(asked == 0);
        Location location;
        CHECK(functions.locate(0xc000'8004, location) == sound);
        CHECK(functions.locate(0xc000'9004, location) == sound);
        CHECK(asked == 1);
        CHECK(reported == (sound ? "" : "the section of symbols is damaged"));
    }
}

TEST_CASE("invalid addresses of symbols are damage") {
    const auto with = [](std::initializer_list<unsigned> bytes, std::uint32_t count = 2) {
        std::vector<std::byte> addresses, payload;
        for (const unsigned byte : bytes) {
            addresses.push_back(static_cast<std::byte>(byte));
        }
        const std::string lines = "Ta\nTb\n";
        const auto first = zstd_compress(addresses, 19);
        const auto names = zstd_compress(std::as_bytes(std::span(lines)), 19);
        const std::uint32_t words[] = {count, 1, static_cast<std::uint32_t>(first.size()), count,
                                       static_cast<std::uint32_t>(names.size())};
        const auto head = std::as_bytes(std::span(words));
        payload.assign(head.begin(), head.end());
        payload.insert(payload.end(), first.begin(), first.end());
        payload.insert(payload.end(), names.begin(), names.end());
        return symbols::unpack(payload);
    };
    CHECK(with({0x84, 0x01, 3})[1].address == 0x87);
    CHECK(with({0xff, 0xff, 0xff, 0xff, 0x0f, 0})[1].address == 0xffff'ffff);
    const auto damage = Catch::Contains("symbols is damaged");
    CHECK_THROWS_WITH(with({0xff, 0xff, 0xff, 0xff, 0x0f, 1}), damage); // beyond 32 bits
    CHECK_THROWS_WITH(with({0xff, 0xff, 0xff, 0xff, 0x1f, 0}), damage);
    CHECK_THROWS_WITH(with({0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0}), damage); // too many bits
    CHECK_THROWS_WITH(with({1}), damage);
    CHECK_THROWS_WITH(with({1, 0x80}), damage);
    CHECK_THROWS_WITH(with({1, 1, 1}), damage);
    const Allocations taken;
    CHECK_THROWS_WITH(with({1, 1}, 4'000'000), damage);
    CHECK(taken.bytes() < 8u << 20);
}

TEST_CASE("a section of symbols may hold any bytes") {
    symbols::SymbolList all;
    for (std::uint32_t i = 0; i < 5'000; ++i) {
        all.push_back({0xc000'8000 + 8 * i, 'T', "function" + std::to_string(i), i % 3 ? "" : "m"});
    }
    const std::vector<std::byte> payload = symbols::pack(all);
    std::mt19937 random(3);
    unsigned refused = 0, found = 0;
    for (unsigned round = 0; round < 400; ++round) {
        std::vector<std::byte> changed = payload;
        if (round % 4 == 0) {
            changed.resize(random() % changed.size());
        } else { // most changes at the start are invalid, later ones need not be
            const std::size_t most = round % 4 == 1 ? 36 : changed.size();
            changed[random() % most] ^= static_cast<std::byte>(1u << (random() % 8));
        }
        unsigned reported = 0;
        symbols::SectionFunctions functions([&] { return shared(changed); },
                                            [&reported](const std::string& text) {
                                                CHECK(text == "the section of symbols is damaged");
                                                ++reported;
                                            });
        for (unsigned i = 0; i < 20; ++i) {
            Location location;
            found += functions.locate(0xc000'8000 + static_cast<std::uint32_t>(random() % 40'000),
                                      location)
                         ? 1
                         : 0;
        }
        CHECK(reported <= 1);
        refused += reported;
    }
    CHECK(refused > 100);
    CHECK(found > 100);
}

TEST_CASE("a trace file carries symbols, and a damaged section of them is reported") {
    const symbols::SymbolList all = symbols::read_kallsyms(list);
    const std::vector<std::byte> bytes = trace_bytes([&all](trace::FileWriter& writer) {
        write_info(writer);
        trace::write_about(writer, {"kernel.banner=Linux version 6.1\n", symbols::pack(all), {}});
        writer.finish(0, abi::Ending::machine_off);
    });
    MemorySource source(bytes);
    const trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    CHECK(reader.text().at("kernel.banner") == "Linux version 6.1");
    CHECK(symbols::unpack(*reader.symbols()) == in_order(all));

    std::vector<std::byte> payload = symbols::pack(all);
    CHECK(symbols::pack({}).empty());
    CHECK(symbols::unpack({}).empty());
    payload.resize(payload.size() / 2);
    CHECK_THROWS_WITH(symbols::unpack(payload), Catch::Contains("symbols is damaged"));
    CHECK_THROWS_WITH(symbols::unpack(std::vector<std::byte>(100)),
                      Catch::Contains("symbols is damaged"));
}
