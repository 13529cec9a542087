// One table, as text for people and as CSV and JSON for programs.
#include "system/escape.hpp"
#include "table/table.hpp"
#include "wires.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

using namespace mmioscope::table;
using namespace mmioscope::test;

namespace {

using enum Look;

const Table devices{{{"name", "device", words, 10},
                     {"reads", "reads", number, 6},
                     {"first_ns", "first s", seconds, 9},
                     {"took_ns", "took us", micros},
                     {"base", "base", number, 0, 8},
                     {"size", "size", Look::size},
                     {"", "share", number, 0, 1, " %"},
                     {"on"},
                     {"", "what", words}},
                    {{std::string_view("serial0"), std::uint64_t{12}, std::uint64_t{1'000'016'999},
                      std::uint64_t{1500}, Hex{0x1c09'0000}, Hex{4096}, 33.333, true,
                      std::string_view("a,b \"c\"")},
                     {std::string("interrupt-controller@2c001000[1]"), std::uint64_t{1}, Cell(),
                      Cell(), Cell(), std::uint64_t{512}, 100.0, false, std::string_view("")}},
                    Shape::headed,
                    "... 3 more"};

std::string quoted(std::string_view text) {
    fmt::memory_buffer to;
    mmioscope::append_json(to, text);
    return fmt::to_string(to);
}

/// A table of words only.
std::string text_of(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
    Table table;
    for (const std::string& title : rows.front()) {
        table.columns.push_back({"", title});
    }
    for (std::size_t i = 1; i < rows.size(); ++i) {
        table.rows.emplace_back(rows[i].begin(), rows[i].end());
    }
    return text(table, width);
}

} // namespace

TEST_CASE("a table for people has units, and columns as wide as their content") {
    CHECK(text(devices) ==
          "device                            reads   first s took us       base  size   share  "
          "what\n"
          "serial0                              12  1.000016    1.50 0x1c090000 4 KiB  33.3 %  a,b "
          "\"c\"\n"
          "interrupt-controller@2c001000[1]      1         -       -          - 512 B 100.0 %\n"
          "... 3 more\n");
}

TEST_CASE("the same table for programs has its own columns, with plain values") {
    CHECK(csv(std::span(&devices, 1)) == "name,reads,first_ns,took_ns,base,size,on\n"
                                         "serial0,12,1000016999,1500,0x1c090000,0x1000,true\n"
                                         "interrupt-controller@2c001000[1],1,,,,512,false\n");
    CHECK(jsonl(std::span(&devices, 1)) ==
          "{\"name\":\"serial0\",\"reads\":12,\"first_ns\":1000016999,\"took_ns\":1500,"
          "\"base\":\"0x1c090000\",\"size\":\"0x1000\",\"on\":true}\n"
          "{\"name\":\"interrupt-controller@2c001000[1]\",\"reads\":1,\"size\":512,"
          "\"on\":false}\n");
}

TEST_CASE("on a narrow terminal the widest words are cut, and numbers are whole or left out") {
    const Table table{{{"", "device"}, {"", "reads", number, 6}, {"", "by"}},
                      {{std::string_view("interrupt-controller@2c001000[1]"),
                        std::uint64_t{123'456}, std::string_view("gic_handle_irq")},
                       {std::string_view("uart"), std::uint64_t{7}, std::string_view("putc")}}};
    CHECK(text(table, 55) == "device                            reads  by\n"
                             "interrupt-controller@2c001000[1] 123456  gic_handle_irq\n"
                             "uart                                  7  putc\n");
    CHECK(text(table, 50) == "device                       reads  by\n"
                             "interrupt-con..@2c001000[1] 123456  gic_handle_irq\n"
                             "uart                             7  putc\n");
    CHECK(text(table, 33) == "device        reads  by\n"
                             "inter..00[1] 123456  gic_h..e_irq\n"
                             "uart              7  putc\n");
    CHECK(text(table, 25) == "device        reads  by\n"
                             "inter..00[1] 123456  gi..\n"
                             "uart              7  putc\n");
    CHECK(text(table, 21) == "device        reads\ninter..00[1] 123456\nuart              7\n");
    CHECK(text(table, 14) == "device\ninter..00[1]\nuart\n");
    CHECK(text(table, 1) == ".\n.\n.\n");
    CHECK(text(table, 0) == "\n\n\n");
    for (std::size_t width = 0; width < 80; ++width) {
        for (const std::string& line : lines(devices, width)) {
            INFO(width << " " << line);
            CHECK(line.size() <= width);
        }
    }
}

TEST_CASE("the spare room of a column is used up before anything is cut") {
    const Table table{{{"", "name", words, 20}, {"", "n", number, 10}},
                      {{std::string_view("some_function"), std::uint64_t{5}}}};
    CHECK(text(table, 31) == "name                          n\nsome_function                 5\n");
    CHECK(text(table, 28) == "name                       n\nsome_function              5\n");
    CHECK(text(table, 15) == "name          n\nsome_function 5\n");
    CHECK(text(table, 14) == "name         n\nsome_..ction 5\n");
}

TEST_CASE("a name can neither control the terminal nor shift what follows it") {
    CHECK(text_of({{"a", "b"}, {"\x1b[2J\n\x07", "x"}, {"\xc3\xa4\xe2\x80\xae\x9b", "y"}},
                  unlimited) == "a       b\n"
                                "?[2J??  x\n"
                                "??????  y\n");
    const Table facts{{{"", "key"}}, {{std::string("\x1b]0;x\x07")}}, Shape::facts};
    CHECK(text(facts) == "key            ?]0;x?\n");
}

TEST_CASE("a name of a megabyte makes its own line long, and no other line") {
    const std::string text =
        text_of({{"a", "b"}, {std::string(1 << 20, 'x'), "y"}, {"c", "d"}}, unlimited);
    CHECK(text.size() < (1 << 20) + 500);
    CHECK_THAT(text, Catch::Contains("x  y\nc") && Catch::EndsWith("  d\n"));
    CHECK(text_of({{"a", "b"}, {std::string(1 << 20, 'x'), "y"}}, 15) ==
          "a             b\nxxxxx..xxxxx  y\n");
}

TEST_CASE("a table without rows has its titles, for people and in CSV") {
    const Table none{{{"a", "A"}, {"b", "B", number, 5}}, {}};
    CHECK(text(none) == "A     B\n");
    CHECK(csv(std::span(&none, 1)) == "a,b\n");
    CHECK(jsonl(std::span(&none, 1)).empty());
    CHECK(text(Table{{{"a"}}, {{true}}}).empty()); // the table is for programs
    CHECK(csv({}).empty());
}

TEST_CASE(
    "facts and bare tables are whole on any terminal, and an empty line precedes only a heading") {
    const Table facts{
        {{"a", "format"}, {"b", "lost", number, 0, 0, " records"}, {"c", "ended"}, {"d"}},
        {{std::string_view("1.2"), std::uint64_t{3}, Cell(), true}},
        Shape::facts};
    const Table bare{{{"", "key", words, 13}, {"", "value"}},
                     {{std::string_view("kernel"), std::string_view("a long way to the kernel")}},
                     Shape::bare};
    const Table headed{{{"", "title"}}, {{std::string_view("x")}}};
    const std::vector<Table> all{facts, bare, headed, headed};
    CHECK(text(std::span(all), 10) == "format         1.2\n"
                                      "lost           3 records\n"
                                      "kernel         a long way to the kernel\n"
                                      "\ntitle\nx\n"
                                      "\ntitle\nx\n");
    CHECK(text(std::span(all).subspan(2)) == "title\nx\n\ntitle\nx\n");
}

TEST_CASE("rows that a table produces when printed are shown like rows that it holds") {
    Table longer = devices;
    longer.more = [rows = std::exchange(longer.rows, {})](const TakeRow& take) {
        std::ranges::for_each(rows, take);
    };
    const std::span held(&devices, 1);
    const std::span given(&longer, 1);
    for (const std::size_t width : {std::size_t{20}, std::size_t{40}, unlimited}) {
        CHECK(text(given, width) == text(held, width));
    }
    CHECK(csv(given) == csv(held));
    CHECK(jsonl(given) == jsonl(held));
    Table facts = longer;
    facts.shape = Shape::facts;
    Table held_facts = devices;
    held_facts.shape = Shape::facts;
    CHECK(text(facts) == text(held_facts));
    longer.rows.push_back(devices.rows.front()); // the others follow it
    Table both = devices;
    both.rows.insert(both.rows.begin(), devices.rows.front());
    CHECK(text(longer) == text(both));
}

TEST_CASE("a CSV field of a table is quoted where needed") {
    const auto field = [](const Cell& cell) {
        fmt::memory_buffer to;
        append_csv(to, cell);
        return fmt::to_string(to);
    };
    CHECK(field(std::string("a,b")) == "\"a,b\"");
    CHECK(field(std::string("a\"b")) == "\"a\"\"b\"");
    CHECK(field(std::string("a\rb")) == "\"a\rb\"");
    CHECK(field(std::string("a\nb")) == "\"a\nb\"");
    CHECK(field(std::string_view("a b'")) == "a b'");
    CHECK(field(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(field(Cell()).empty());
}

TEST_CASE("text in JSON is always valid UTF-8") {
    CHECK(quoted("a\"\\\n\x7f") == R"("a\"\\\u000a\u007f")");
    CHECK(quoted("\x1f ") == R"("\u001f ")");
    CHECK(quoted("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    CHECK(quoted("\xc3") == R"("\ufffd")");                     // cut off
    CHECK(quoted("\xc0\xaf") == R"("\ufffd\ufffd")");           // overlong
    CHECK(quoted("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")"); // a surrogate
    CHECK(quoted("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
}

TEST_CASE("COLUMNS or else the terminal gives the width; a file without a terminal has no width") {
    ::unsetenv("COLUMNS");
    const Pty pty;
    const winsize size{24, 57, 0, 0};
    REQUIRE(::ioctl(pty.master.get(), TIOCSWINSZ, &size) == 0);
    CHECK(width_of(pty.master.get()) == 57);
    ::setenv("COLUMNS", "40", 1);
    CHECK(width_of(pty.master.get()) == 40);
    ::setenv("COLUMNS", "wide", 1);
    CHECK(width_of(pty.master.get()) == 57);
    CHECK(width_of(-1) == unlimited);
    ::unsetenv("COLUMNS");
    const winsize unknown{};
    REQUIRE(::ioctl(pty.master.get(), TIOCSWINSZ, &unknown) == 0);
    CHECK(width_of(pty.master.get()) == unlimited);
}
