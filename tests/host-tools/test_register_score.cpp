// regs --score: what a model foretells of registers whose rules are known, and where it deviates.
#include "analysis/register_score.hpp"
#include "random_trace.hpp"
#include "register_words.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

/// The numbers of a row of the table, by the names that programs see.
using Numbers = std::map<std::string, std::uint64_t>;

/// What a model learnt from `learnt` foretells of the register at `offset` in `scored`; without an
/// offset: of the whole device.
Numbers score_of(const std::string& learnt, const std::string& scored,
                 std::optional<std::uint64_t> offset = {}) {
    const std::string dev = "dev@1000";
    analysis::RegisterClasses classes;
    read_lines(learnt, classes, dev);
    analysis::RegisterModel model(classes);
    read_lines(learnt, model, dev);
    analysis::RegisterScore score(model);
    read_lines(scored, score, dev);
    const table::Table table = score.table();
    Numbers numbers;
    for (const table::Row& row : table.rows) {
        const auto* const at = std::get_if<table::Hex>(&row[1]);
        if (at == nullptr ? offset.has_value() : at->value != offset) {
            continue;
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (const auto* const number = std::get_if<std::uint64_t>(&row[i])) {
                numbers[std::string(table.columns[i].name)] = *number;
            }
        }
    }
    return numbers;
}
Numbers score(const std::string& learnt, const std::string& scored,
              std::optional<std::uint64_t> offset = {}) {
    return score_of(lines_of(learnt), lines_of(scored), offset);
}

/// `count` accesses or groups of them, as `next` says.
std::string accesses(unsigned seed, unsigned count,
                     const std::function<std::string(Random&)>& next) {
    Random random(seed);
    std::string words;
    for (unsigned i = 0; i < count; ++i) {
        words += next(random);
    }
    return words;
}

} // namespace

TEST_CASE("a model foretells values that it has never seen") {
    SECTION("of storage") {
        Numbers all = score("W0=1 R0=1 W0=2 R0=2 W0=3 R0=3", "W0=7 R0=7 W0=8 R0=8 R0=8");
        CHECK(all["reads"] == 3);
        CHECK(all["right"] == 3);
        CHECK(all["free_right"] == 3);
        CHECK(all["first_wrong"] == 0);
    }
    SECTION("of a register whose bits a one clears") {
        Numbers all = score("R0=7 W0=1 R0=6 W0=2 R0=4 W0=4 R0=0 R0=7 W0=3 R0=4 R0=4",
                            "R0=7 R0=7 W0=6 R0=1 W0=1 R0=0", 0);
        CHECK(all["reads"] == 4);
        CHECK(all["right"] == 4);
        CHECK(all["last_read_right"] == 1);
    }
    SECTION("of a clock") {
        const auto clock = [](unsigned begin) {
            std::string lines;
            for (unsigned i = 0; i < 40; ++i) {
                const double seconds = 0.3 * i;
                lines += fmt::format("{:.6f} cpu0 R4 0x1c050000 {}\n", seconds,
                                     begin + static_cast<unsigned>(seconds + 0.25));
            }
            return lines;
        };
        Numbers all = score_of(clock(100), clock(5000));
        CHECK(all["reads"] == 40);
        CHECK(all["right"] >= 36); // not the first; nor those before its phase is known
        CHECK(all["last_read_right"] <= 30);
        CHECK(all["free_right"] == 0); // nothing tells it when this clock began
    }
}

TEST_CASE("a model foretells what depends on accesses before") {
    // Register 4 shows what 0 chose; 8 is busy after each second write.
    const auto device = [](Random& random) {
        const unsigned index = below(random, 4);
        return fmt::format("W0={:x} R8=1 R8=0 R4={:x} ", index, 0x50 + index * index);
    };
    Numbers all = score(accesses(1, 60, device), accesses(2, 60, device));
    CHECK(all["reads"] == 180);
    CHECK(all["right"] >= 179);      // of the first it knows least
    CHECK(all["free_right"] >= 179); // without being told what was read
    CHECK(all["last_read_right"] < 60);
    CHECK(all["situations"] < 60); // most come again
    SECTION("and what an index chooses in this run alone") {
        const auto other = [](unsigned base) {
            return [base](Random& random) {
                const unsigned index = below(random, 4);
                return fmt::format("W0={:x} R4={:x} ", index, base + index * index);
            };
        };
        all = score(accesses(1, 60, other(0x50)), accesses(2, 60, other(0x80)), 4);
        CHECK(all["right"] < 60);
    }
}

TEST_CASE("a context's record counts, not how often in a row it was right while it learnt") {
    // Packets of four words, each behind a look at whether there is one.
    const auto packets = [](Random& random) {
        std::string words = "R4=3 ";
        for (unsigned i = 0; i < 4; ++i) {
            words += fmt::format("R0={:x} R4={} ", below(random, 256), i < 3 ? 3 : 2);
        }
        return words;
    };
    Numbers all = score(accesses(1, 100, packets), accesses(2, 100, packets), 4);
    CHECK(all["reads"] == 500);
    CHECK(all["right"] >= 498);
}

TEST_CASE("what two registers chose together is recalled") {
    // W8=1 shows in 4 what was written to 4 before, and W8=2 what that chooses.
    const auto device = [](unsigned base) {
        return [base](Random& random) {
            const unsigned index = below(random, 6);
            return fmt::format("W4={0:x} W8=1 R4={0:x} W8=2 R4={1:x} ", index,
                               base + index * index);
        };
    };
    Numbers all = score(accesses(1, 80, device(0x50)), accesses(2, 80, device(0x80)), 4);
    CHECK(all["reads"] == 160);
    CHECK(all["right"] >= 154); // but each index' first
}

TEST_CASE("chance is not foretold") {
    const auto device = [](Random& random) {
        return fmt::format("R0={:x} W4=1 ", below(random, 64));
    };
    Numbers all = score(accesses(1, 300, device), accesses(2, 300, device), 0);
    CHECK(all["reads"] == 300);
    CHECK(all["right"] < 30);
    CHECK(all["first_wrong"] > 0);
}

TEST_CASE("the first read that deviates is told") {
    const std::string good = "W0=1 R0=1 W0=2 R0=2 W0=3 R0=3 W4=9 R8=5 R8=5 ";
    CHECK(score(good, good)["first_wrong"] == 0);
    Numbers all = score(good, "W0=1 R0=1 W0=2 R0=3 W0=3 R0=3 W4=9 R8=5 R8=4");
    CHECK(all["first_wrong"] == 4);
    CHECK(all["reads"] - all["right"] == 2);
    CHECK(score(good, "W0=1 R0=1 W0=2 R0=3 W0=3 R0=3 W4=9 R8=5 R8=4", 8)["first_wrong"] == 9);
    CHECK(score(good, "W0=1 R0=2 W0=2 R0=3", 0)["first_wrong"] == 2);
}

TEST_CASE("a situation counts once, at its first time") {
    // Twice the same six reads: the first five of each have another access before them.
    const std::string six = "R0=1 R4=2 R0=1 R4=2 R0=1 R4=2 ";
    Numbers all = score(six, six + six);
    CHECK(all["reads"] == 12);
    CHECK(all["situations"] == 7); // with none to five accesses before; after that it repeats
    CHECK(all["right"] == 12);
    // A situation that goes wrong only the second time is right.
    all = score("R0=1 R0=1 R0=1 R0=1 R0=1 R0=1 R0=1", "R0=1 R0=1 R0=1 R0=1 R0=1 R0=1 R0=1 R0=2");
    CHECK(all["situations"] == 6);
    CHECK(all["situations_right"] == 6);
    CHECK(all["reads"] - all["right"] == 1);
}

TEST_CASE("reads in situations beyond the first 65,536 are left out of them, and counted") {
    std::string learnt = "R0=1", scored = "R0=0";
    for (unsigned i = 1; i < 65'600; ++i) {
        scored += fmt::format(" W4={:x} R0={:x}", i, i);
    }
    analysis::RegisterClasses classes;
    read_lines(lines_of(learnt), classes, "dev@1000");
    analysis::RegisterModel model(classes);
    analysis::RegisterScore score(model);
    read_lines(lines_of(scored), score, "dev@1000");
    const table::Table table = score.table();
    CHECK_THAT(table.closing, Catch::Contains(" of 65536 foretold") &&
                                  Catch::Contains(" of 65600, and 0 of data"));
    REQUIRE(table.left_out.size() == 1);
    CHECK_THAT(table.left_out[0],
               Catch::StartsWith("... 64 reads in situations beyond the first 65536 "));
}

TEST_CASE("the baselines are what their names say") {
    Numbers all = score("R0=1 R0=1 R0=2 W0=5 R0=1", "R0=1 R0=2 R0=2 W0=2 R0=2 R0=5");
    CHECK(all["reads"] == 5);
    CHECK(all["frequent_right"] == 1);
    CHECK(all["last_read_right"] == 2);
    CHECK(all["last_written_right"] == 1);
}

TEST_CASE("data is left out, and does not tell situations apart") {
    const auto fifo = [](unsigned step) {
        std::string words;
        for (unsigned i = 0; i < 20; ++i) {
            words += fmt::format("R0={:x} R0={:x} R4=1 ", i * step, i * step + 1);
        }
        return words;
    };
    Numbers all = score(fifo(7), fifo(9));
    CHECK(all["reads"] == 20);
    CHECK(all["right"] == 20);
    CHECK(all["situations"] == 2);
    SECTION("but what was read tells how much comes") {
        // After each word of which bit 7 is set there is another one.
        const auto words = [](unsigned seed) {
            return accesses(seed, 200, [](Random& random) {
                const unsigned word = 32 + below(random, 32);
                return below(random, 2) != 0 ? fmt::format("R0={:x} R4=0 ", word)
                                             : fmt::format("R0=f0 R4=1 R0={:x} R4=0 ", word);
            });
        };
        all = score(words(1), words(2), 4);
        CHECK(all["reads"] >= 250);
        CHECK(all["right"] == all["reads"]);
    }
    SECTION("as are values that are not known") {
        CHECK(score("R0=1 R0=1", "R0=1 R0=? R0=1")["reads"] == 2);
    }
}

TEST_CASE("after a loss the model knows nothing of before") {
    const std::string learnt = "W0=1 R0=1 W0=2 R0=2 W0=3 R0=3 ";
    CHECK(score(learnt, "W0=9 R0=9")["right"] == 1);
    CHECK(score(learnt, "W0=9 gap R0=9")["right"] == 0);
}

TEST_CASE("what other devices do changes no score") {
    const std::string mine = "W0=1 R0=1 W0=2 R0=2 R4=7 R4=7 W0=3 R0=3 ";
    const std::string own = lines_of(mine), other = lines_of("R0=5 W0=6 R4=1 R0=2", 0x1c070000);
    const auto merged = [](const std::string& first, const std::string& second) {
        std::multimap<double, std::string> all;
        std::istringstream in(first + second);
        for (std::string line; std::getline(in, line);) {
            all.emplace(std::stod(line), line);
        }
        std::string text;
        for (const auto& [time, line] : all) {
            text += line + "\n";
        }
        return text;
    };
    CHECK(score_of(own, own) == score_of(merged(own, other), merged(own, other)));
}
