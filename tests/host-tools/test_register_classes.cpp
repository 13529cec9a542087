// regs: each class is found where its accesses show it, and refused where they nearly do.
#include "analysis/register_classes.hpp"
#include "random_trace.hpp"
#include "register_words.hpp"
#include "table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

table::Table table_of(const std::string& lines, const std::string& device = "",
                      std::size_t most = 4096) {
    analysis::RegisterClasses classes(most);
    read_lines(lines, classes, device);
    return classes.table();
}

std::string csv_of(const std::string& lines, const std::string& device = "") {
    const table::Table table = table_of(lines, device);
    return table::csv(std::span(&table, 1));
}

/// "0:storage 4:w1c": offset and class of each register.
std::string classes_of(const std::string& lines, const std::string& device = "",
                       std::size_t most = 4096) {
    std::string text;
    table::each_row(table_of(lines, device, most), [&text](const table::Row& row) {
        text += fmt::format("{}{:x}:{}", text.empty() ? "" : ", ",
                            std::get<table::Hex>(row[1]).value, std::get<std::string_view>(row[8]));
    });
    return text;
}
std::string classes(const std::string& words) {
    return classes_of(lines_of(words));
}

/// The evidence for the register at this offset.
std::string evidence(const std::string& words, std::uint64_t offset) {
    std::string text;
    table::each_row(table_of(lines_of(words)), [&](const table::Row& row) {
        if (std::get<table::Hex>(row[1]).value == offset) {
            text = std::get<std::string>(row[9]);
        }
    });
    return text;
}
std::string times(unsigned count, const std::string& words) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
        text += words + " ";
    }
    return text;
}

/// N accesses "R0=..." with different values.
std::string many(const char* what, unsigned count, unsigned step, const char* between = "") {
    std::string words;
    for (unsigned i = 0; i < count; ++i) {
        words += fmt::format("{}={:x} {} ", what, (i * step) & 0xff, between);
    }
    return words;
}

} // namespace

TEST_CASE("what is never written is constant, a counter, a status, or unclear") {
    CHECK(classes("R0=7 R0=7") == "0:constant so far");
    CHECK(classes("R0=7 1R0=8 R0=7 1R0=8") == "0:constant so far"); // a value for each CPU
    CHECK(classes("R0=7 1R0=8") == "0:unclear");
    CHECK(classes("R0=1 R0=2 R0=3 R0=5 R0=9") == "0:counter");
    CHECK(classes("R0=9 R0=5 R0=3 R0=2 R0=1") == "0:counter");
    CHECK(classes("R0=1 R0=2 R0=3") == "0:counter so far");
    CHECK(classes("R0=1 R0=2 R0=3 R0=5 R0=4") == "0:unclear"); // three of four rose
    CHECK(classes("R0=1 R0=2 R0=1") == "0:status");
    CHECK(classes("R0=1 R0=2") == "0:unclear");
}

TEST_CASE("what is never read clears another register, or shows nothing") {
    CHECK(classes("R4=6 W0=2 R4=4 W0=4 R4=0") == "0:clear, 4:status");
    SECTION("once may be chance") {
        CHECK(classes("R4=6 W0=2 R4=4").starts_with("0:never read back"));
    }
    SECTION("bits that stay were not cleared") {
        CHECK(classes("R4=6 W0=2 R4=4 W0=4 R4=4 W0=4 R4=4 W0=4 R4=0").starts_with("0:never"));
    }
    SECTION("by another CPU") {
        CHECK(classes("R4=6 1W0=2 R4=4 1W0=4 R4=0").starts_with("0:never read back"));
    }
    SECTION("both say so") {
        CHECK(evidence("R4=6 W0=2 R4=4 W0=4 R4=0", 0).ends_with("another register: +0x004"));
        CHECK(evidence("R4=6 W0=2 R4=4 W0=4 R4=0", 4).ends_with("; cleared by +0x000"));
        CHECK(evidence("R4=6 W0=2 R4=4", 4).find("cleared by") == std::string::npos);
    }
}

TEST_CASE("what is never read sets bits of another register") {
    CHECK(classes("R4=1 W0=2 R4=3 W0=4 R4=7") == "0:set, 4:status");
    CHECK(evidence("R4=1 W0=2 R4=3 W0=4 R4=7", 0).ends_with("another register: +0x004"));
    CHECK(classes("R4=1 W0=2 R4=3 R4=7").starts_with("0:never read back")); // once may be chance
    CHECK(classes("R4=0 W0=1 R4=1 W4=1 R4=0 W0=1 R4=1").starts_with("0:never")); // a command
    CHECK(classes("R4=1 W0=2 R4=3 W0=4 R4=5").starts_with("0:never")); // bit 1 did not stay
    CHECK(classes("R4=1 W0=2 R4=3 W0=4 R4=f").starts_with("0:never")); // bit 3 was not written
    CHECK(classes("R4=1 W0=3 R4=3 W0=6 R4=3 W0=6 R4=7").starts_with("0:never")); // two of three
    CHECK(classes("R4=1 1W0=2 R4=3 1W0=4 R4=7").starts_with("0:never"));
}

TEST_CASE("a read clears what the next one does not give") {
    const std::string round = "W8=1 R0=3 R0=1 R0=1";
    CHECK(classes(times(4, round)).starts_with("0:read-clears"));
    CHECK(evidence(times(4, round), 0).starts_with("bits 0x2 ")); // bit 0 stays
    CHECK(classes(times(3, round)).starts_with("0:status"));
    CHECK(classes(times(4, round) + "W8=1 R0=3 R0=3").starts_with("0:status"));   // it stayed once
    CHECK(classes(times(4, "W8=1 R0=3 R0=1")).starts_with("0:status"));           // did it toggle?
    CHECK(classes(times(4, "W8=1 R0=3 R4=0 R0=1 R0=1")).starts_with("0:status")); // by R4?
    CHECK(classes(times(4, "W8=1 R0=3 1R0=1 1R0=1")).starts_with("0:constant so far"));
    CHECK(classes(times(4, "W8=1 R0=3 gap R0=1 R0=1")).starts_with("0:status"));
    CHECK(classes(times(4, "W8=1 R0=2 R0=1 R0=1")).starts_with("0:status")); // another bit rose
    CHECK(classes(times(4, "W0=1 R0=3 R0=1 R0=1")).starts_with("0:read-clears"));
}

TEST_CASE("a command changes another register after a time") {
    const std::string round = "W0=4 R4=8 R4=8 R4=9 W8=1";
    CHECK(classes(times(4, round)) == "0:command, 4:status, 8:never read back");
    CHECK(evidence(times(4, round), 0).starts_with("4 of 4 times that +0x004 was polled"));
    const auto no_command = [](const std::string& words) {
        return classes(words).starts_with("0:never read back, 4:status");
    };
    CHECK(no_command(times(3, round)));
    CHECK(no_command(times(4, "W0=4 R4=8 R4=9 W8=1"))); // it was never seen to wait
    CHECK(no_command(times(4, round) + times(2, "W0=4 R4=8 R4=8 W8=1"))); // four of six
    CHECK(no_command(times(2, round + " W0=4 R4=8 R4=8 R4=a W8=1")));     // not the same bits
    CHECK(no_command(times(2, round + " W0=4 R4=9 R4=9 R4=8 W8=1")));     // not in the same way
    CHECK(no_command(times(4, round + " R4=8 R4=8 R4=9")));               // as much after W8
    CHECK(no_command(times(4, "W0=4 R4=8 R4=8 Rc=1 R4=9 W8=1")));         // by Rc?
    CHECK(no_command(times(4, "1W0=4 R4=8 R4=8 R4=9 W8=1")));
    CHECK(classes(times(4, "W0=4 R4=8 R4=8 W8=1 R4=9")).starts_with("0:never read back"));
}

TEST_CASE("storage gives back what was written") {
    CHECK(classes("W0=5 R0=5 W0=a R0=a") == "0:storage");
    CHECK(classes("W0=3 R0=1 W0=2 R0=6") == "0:unclear");        // none agrees
    CHECK(classes("W0=5 R0=5 W0=1a R0=a") == "0:storage");       // bit 4 is not stored
    CHECK(classes("W0=5 R0=5 W0=5 R0=5") == "0:storage so far"); // no bit as one and as zero
    CHECK(classes("W0=0 R0=0") == "0:storage so far");
    CHECK(classes("W0=5 1R0=5 W0=a 1R0=a") == "0:unclear"); // the CPU that reads did not write
    CHECK(classes("W0=5 gap R0=5") == "0:unclear");
    CHECK(classes("W0=5 R0=? W0=a R0=?") == "0:unclear");
    SECTION("also if something else changed it for once") {
        const std::string good = times(9, "W0=5 R0=5 W0=2 R0=2");
        CHECK(classes(good + "W0=5 R0=0 W0=2 R0=0") == "0:storage");
        CHECK(classes(good + times(2, "W0=5 R0=0 W0=2 R0=0")) == "0:unclear"); // 18 of 22
    }
    SECTION("in a part of it, the rest of which is an answer") {
        std::string words;
        for (unsigned i = 0; i < 16; ++i) {
            words += fmt::format("W0={:x} R0={:x} ", i << 16, i << 16 | (i * 7 + 1));
        }
        CHECK(classes(words) == "0:storage");
        CHECK(classes(words.substr(0, words.rfind('W'))) == "0:unclear"); // fifteen
    }
}

TEST_CASE("a one clears, or sets, or clears itself") {
    CHECK(classes("R0=3 W0=1 R0=2 W0=2 R0=0") == "0:w1c");
    CHECK(classes("R0=3 W0=1 R0=2") != "0:w1c"); // once
    CHECK(classes("R0=3 W0=1 R0=3 W0=2 R0=3") != "0:w1c");
    CHECK(classes(times(2, "R0=5 W0=5 W0=1 R0=0")) == "0:w1c"); // written twice
    CHECK(classes(times(2, "R0=3 W0=1 W4=6 R0=2")).starts_with("0:w1c"));
    CHECK(!classes(times(2, "R0=3 W0=1 W8=6 W4=1 Wc=5 R0=2")).starts_with("0:w1c")); // by W4?
    CHECK(classes(times(2, "R0=5 W0=5 W0=8 R0=0")) != "0:w1c");                      // other bits
    CHECK(classes("R0=1 W0=1 gap W0=1 R0=0 R0=1 W0=1 gap W0=1 R0=0") != "0:w1c");
    CHECK(classes("R0=1 W0=2 R0=3") == "0:set");
    CHECK(classes("R0=1 W0=2 R0=3 W0=4 R0=6") != "0:set"); // bit 0 did not stay
    CHECK(classes("W0=101 R0=1 W0=102 R0=2") == "0:self-clear");
    CHECK(classes("W0=101 R0=1 W0=101 R0=1") == "0:self-clear so far"); // bit 0 may be stuck
    CHECK(classes("W0=100 R0=0 W0=100 R0=0") == "0:self-clear so far"); // or nothing is kept
    CHECK(classes("W0=100 R0=0") == "0:unclear");
}

TEST_CASE(
    "who writes what was read acknowledges it, though it is raised again before the next read") {
    CHECK(classes("R0=4 W0=4 R0=4 W0=4 R0=8 W0=8 R0=4 W0=4") == "0:w1c");
    CHECK(classes("R0=4 W0=4 R0=4 W0=4 R0=8 W0=8 R0=8 W0=8") != "0:w1c"); // gone once
    CHECK(classes("R0=4 W0=4 R0=4 W0=4 R0=4 W0=4") != "0:w1c");           // it may be storage
    CHECK(classes("R0=4 W0=4 W0=7 R0=0 W0=0 R0=4 W0=4 R0=0 W0=0") == "0:w1c");
    CHECK(classes(times(3, "R0=4 W0=4 W0=0 R0=0 W0=0")) != "0:w1c");      // written as zero since
    CHECK(classes("R0=4 W0=4 R0=8 W0=8 R0=1 W0=3 R0=1 W0=3") != "0:w1c"); // half of the writes
    CHECK(classes("R0=4 1W0=4 R0=8 1W0=8 R0=1 1W0=1 R0=2") != "0:w1c");   // another CPU's
}

TEST_CASE("what changes alone and is never what was written shows a status") {
    CHECK(classes("W0=7 R0=c1 R0=c2 W0=1 R0=c1 R0=c2 R0=c1") == "0:status");
    CHECK(classes("W0=7 R0=c1 R0=c2 W0=1 R0=c1") != "0:status"); // changed once
    CHECK(classes("W0=ff " + many("R0", 40, 1)) != "0:status");  // it counts
    CHECK(classes("W0=7 R0=7 R0=c2 W0=1 R0=c1 R0=c2 R0=c1") != "0:status");
}

TEST_CASE("a counter goes on") {
    const std::string fell = "R0=63 R0=61 R0=60 ";
    CHECK(classes(fell + times(8, "R0=60")) == "0:status");
    CHECK(classes(fell + times(7, "R0=60")) == "0:counter so far");
    CHECK(classes("R0=63 " + times(4, "R4=1") + "R0=61 R0=60 " + times(8, "R0=60"))
              .starts_with("0:counter so far")); // it may be slow
}

TEST_CASE("data is what an index chooses") {
    const auto chosen = [](const char* index, const char* value) {
        return fmt::format("W4=ff W0={} R4={} ", index, value);
    };
    const std::string five = chosen("1", "10") + chosen("2", "24") + chosen("3", "31") +
                             chosen("4", "42") + chosen("5", "58");
    CHECK(classes(five + chosen("2", "24") + chosen("4", "42")) == "0:index, 4:data");
    const std::string enough = five + chosen("2", "24") + chosen("4", "42");
    CHECK(evidence(enough, 0) == "chooses what +0x004 shows");
    CHECK(evidence(enough, 4).ends_with("another register: +0x000"));
    CHECK(classes(enough + "R0=4") == "0:index, 4:data");          // also if it can be read
    CHECK(classes(five + chosen("2", "24")) != "0:index, 4:data"); // once may be chance
    CHECK(classes(five + chosen("2", "24") + chosen("4", "43") + chosen("1", "10")) !=
          "0:index, 4:data"); // the index 4 alone does not choose
    CHECK(classes(five + "W8=1 R4=58 W8=1 R4=58 W8=1 R4=58") !=
          "0:index, 4:data, 8:never read back"); // not one register alone
}

TEST_CASE("data is what two indices choose, the second one behind the first") {
    // W0=1 stores what W4 wrote in the second index, W0=2 shows what that one chooses.
    const auto chosen = [](const char* index, const char* value) {
        return fmt::format("W4={0} W0=1 W0=2 R4={1} ", index, value);
    };
    const std::string four =
        chosen("100", "3a") + chosen("200", "4f") + chosen("300", "58") + chosen("400", "61");
    const std::string first = "W0=3 R4=5 W0=4 R4=6 W0=5 R4=7 W0=6 R4=8 ";
    const std::string again = chosen("200", "4f") + chosen("100", "3a");
    CHECK(classes(first + four + again) == "0:index, 4:data");
    const std::string otherwise = chosen("200", "4e") + chosen("100", "3b") + chosen("400", "62");
    CHECK(classes(first + four + otherwise) != "0:index, 4:data");
    CHECK(classes(first + four + times(2, "W0=2 R4=61 W0=2 R4=62")) != "0:index, 4:data");
}

TEST_CASE("a FIFO is accessed several times in a row, with many values") {
    CHECK(classes(many("R0", 17, 37)) == "0:fifo");
    CHECK(classes(many("R0", 15, 37)) != "0:fifo");
    CHECK(classes(many("R0", 17, 37, "W4=1")).starts_with("0:status")); // between other accesses
    CHECK(classes(many("R0", 17, 37, "R4=1")).starts_with("0:fifo"));   // behind a look at a status
    CHECK(classes(many("R0", 17, 37, "R4=1 R8=1")).starts_with("0:status"));
    CHECK(classes(many("R0", 17, 37, "R4=1") + "W0=ff W0=fe R0=fa R0=aa").starts_with("0:fifo"));
    CHECK(classes(many("W0", 17, 37, "R0=3 R0=3 R0=3")) != "0:fifo"); // what is read stays
    CHECK(classes("W0=1 " + many("R0", 20, 9)) != "0:fifo");          // and this counts
    std::string acknowledged, framed;
    for (unsigned i = 0; i < 17; ++i) {
        acknowledged += fmt::format("R4={0:x} W0={0:x} ", i * 37 & 0xff);
        framed += fmt::format("W0={:x} R0={:x} ", i << 16, i << 16 | (i * 7 + 1));
    }
    CHECK(classes(acknowledged).starts_with("0:never read back")); // what R4 gave
    CHECK(classes(framed) != "0:fifo");                            // a part of it is stored
    CHECK(classes(many("W0", 17, 37)) == "0:fifo");
    CHECK(classes(many("W0", 15, 37)) == "0:never read back");
    CHECK(classes(many("W0", 17, 37, "W4=1")).starts_with("0:never read back"));
}

TEST_CASE("a device has the names that it has in a filter") {
    const std::string lines = lines_of("R0=1 R0=1") + lines_of("R4=1 R4=1", 0x1c070000);
    for (const char* name : {"dev@1000", "/dev@1000"}) {
        CHECK(classes_of(lines, name) == "0:constant so far");
    }
    for (const char* name : {"other", "other@3000", "acme,other"}) {
        CHECK(classes_of(lines, name) == "4:constant so far");
    }
    CHECK_THROWS_WITH(classes_of(lines, "othr"),
                      Catch::Matchers::EndsWith("no device 'othr', did you mean 'other'?"));
    CHECK_THROWS_WITH(classes_of(lines, "a\"b"), Catch::Matchers::EndsWith("no quotes"));
}

TEST_CASE("a loss or a reset, which is of no device, counts for each") {
    for (const char* event : {"", "gap", "power"}) {
        const std::string words = fmt::format("W0=1 R0=1 W0=2 R0=2 W0=4 {} R0=4 W0=3 R0=3", event);
        INFO(event);
        CHECK(csv_of(lines_of(words), "dev@1000") == csv_of(lines_of(words)));
    }
}

TEST_CASE("at most so many registers are looked at") {
    CHECK(classes_of(lines_of("R0=1 R4=1 R8=1 R8=1"), "", 2) ==
          "0:constant so far, 4:constant so far");
    const std::vector<std::string> left_out =
        table_of(lines_of("R0=1 R4=1 R8=1 R8=1"), "", 2).left_out;
    REQUIRE(left_out.size() == 1);
    CHECK_THAT(left_out[0],
               Catch::StartsWith("... 2 accesses to registers beyond the first 2 are left out: "));
}

// What other devices do in between changes nothing, whatever the order.
TEST_CASE("the accesses of other devices do not matter") {
    Random random(7);
    const auto accesses = [&random](std::uint32_t base) {
        std::vector<std::string> lines;
        for (unsigned i = 0; i < 300; ++i) {
            lines.push_back(fmt::format("cpu0 {}4 {:#x} {:#x}\n", below(random, 2) ? 'R' : 'W',
                                        base + 4 * below(random, 6), below(random, 4)));
        }
        for (unsigned i = 0; i < 8; ++i) { // a register that clears bits of another one
            lines.push_back(fmt::format("cpu0 R4 {:#x} 0x6\n", base + 0x44));
            lines.push_back(fmt::format("cpu0 W4 {:#x} 0x2\n", base + 0x40));
            lines.push_back(fmt::format("cpu0 R4 {:#x} 0x4\n", base + 0x44));
        }
        return lines;
    };
    const auto timed = [](const std::vector<std::string>& lines) {
        std::string text;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            text += fmt::format("{:.6f} {}", 0.001 * static_cast<double>(i), lines[i]);
        }
        return text;
    };
    const std::vector<std::string> mine = accesses(0x1c050000);
    const std::string alone = csv_of(timed(mine));
    CHECK(std::count(alone.begin(), alone.end(), '\n') == 1 + 8);
    for (unsigned round = 0; round < 8; ++round) {
        const std::vector<std::string> others = accesses(round % 2 ? 0x1c060000 : 0x1c070000);
        std::vector<std::string> mixed;
        std::size_t own = 0;
        while (own < mine.size()) {
            mixed.push_back(below(random, 2) ? mine[own++] : others[mixed.size() % others.size()]);
        }
        CHECK(csv_of(timed(mixed)).starts_with(alone)); // then those of dev@2000
    }
}
