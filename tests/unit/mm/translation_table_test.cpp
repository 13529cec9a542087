#include "mm/translation_table.hpp"

#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"

#include <map>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr std::uint64_t gib = 1u << 30;
constexpr std::uint64_t block = 2u << 20;
} // namespace

TEST_CASE("a fresh table maps nothing, whatever its memory held") {
    Bench bench;
    TablePool pool = bench.pool(1);
    const TranslationTable table(Bench::root(pool));
    for (std::uint64_t a = 0; a < 4 * gib; a += gib / 4) {
        CHECK(!bench.translate(table, a).valid());
        CHECK(table.lookup(a) == 0);
    }
    CHECK(pool.take() == nullptr);
}

TEST_CASE("the largest blocks that fit are used") {
    Bench bench;
    TablePool pool = bench.pool(16);
    TranslationTable table(Bench::root(pool));
    // A page, a block, a whole level-1 entry, a block, a page.
    const Range range{gib - block - page_size, 2 * gib + block + page_size};
    REQUIRE(table.map(range, lpae::guest_memory, pool));
    CHECK(bench.translate(table, range.begin).level == 3);
    CHECK(bench.translate(table, gib - 1).level == 2);
    CHECK(bench.translate(table, gib).level == 1);
    CHECK(bench.translate(table, 2 * gib).level == 2);
    CHECK(bench.translate(table, range.end - 1).level == 3);
    CHECK(!bench.translate(table, range.begin - 1).valid());
    CHECK(!bench.translate(table, range.end).valid());
    CHECK(pool.left() == 16 - 1 - 4);
}

TEST_CASE("splitting a block keeps its attributes on both sides") {
    Bench bench;
    TablePool pool = bench.pool(8);
    TranslationTable table(Bench::root(pool));
    REQUIRE(table.map({gib, 2 * gib}, lpae::guest_memory, pool));
    const std::uint64_t hole = gib + 5 * block + 3 * page_size;
    REQUIRE(table.unmap({hole, hole + page_size}, pool));
    CHECK(!bench.translate(table, hole).valid());
    for (const std::uint64_t a : {hole - 1, hole + page_size, gib, 2 * gib - 1}) {
        const Translation t = bench.translate(table, a);
        REQUIRE(t.valid());
        CHECK(t.output(a) == a);
        CHECK((t.descriptor & 0xfff0'0000'0000'0ffc) == lpae::guest_memory.bits);
    }
}

TEST_CASE("mapping again replaces the old mapping, with other attributes and larger blocks") {
    Bench bench;
    TablePool pool = bench.pool(8);
    TranslationTable table(Bench::root(pool));
    REQUIRE(table.map({gib, gib + page_size}, lpae::guest_device, pool));
    REQUIRE(table.map({gib, gib + block}, lpae::guest_memory, pool));
    CHECK(bench.translate(table, gib).level == 2);
    CHECK(bench.translate(table, gib).executable());
}

TEST_CASE("an exhausted pool is an error, and entries not reached stay as they were") {
    Bench bench;
    TablePool pool = bench.pool(3);
    TranslationTable table(Bench::root(pool));
    REQUIRE(table.map({gib, gib + page_size}, lpae::guest_memory, pool));
    CHECK(!table.map({2 * gib, 2 * gib + page_size}, lpae::guest_memory, pool));
    CHECK(table.unmap({3 * gib, 3 * gib + page_size}, pool)); // nothing to split there
    CHECK(bench.translate(table, gib).valid());
    CHECK(!bench.translate(table, 2 * gib).valid());
}

TEST_CASE("an invalid root translates nothing any more") {
    Bench bench;
    TablePool pool = bench.pool(3);
    TranslationTable table(Bench::root(pool));
    REQUIRE(table.map({0, 4 * gib}, lpae::guest_memory, pool));
    table.invalidate_root();
    for (std::uint64_t a = 0; a < 4 * gib; a += gib / 2) CHECK(!bench.translate(table, a).valid());
}

TEST_CASE("random sequences of map and unmap agree with a map of pages") {
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        Bench bench;
        TablePool pool = bench.pool(64);
        TranslationTable table(Bench::root(pool));
        // 8 MiB around a level-1 boundary: pages, blocks, and both sides of it.
        const std::uint64_t begin = gib - 2 * block;
        constexpr unsigned pages = 2048;
        std::vector<const lpae::Attributes*> reference(pages);
        for (unsigned step = 0; step < 60; ++step) {
            std::uint64_t from = random.below(pages);
            std::uint64_t to = from + 1 + random.below(pages - from);
            if (random.one_in(3)) from &= ~std::uint64_t{511};
            if (random.one_in(3)) to = (to + 511) & ~std::uint64_t{511};
            const lpae::Attributes* attributes = random.one_in(2)   ? nullptr
                                                 : random.one_in(2) ? &lpae::guest_memory
                                                                    : &lpae::guest_device;
            const Range range{begin + from * page_size, begin + to * page_size};
            REQUIRE((attributes ? table.map(range, *attributes, pool) : table.unmap(range, pool)));
            for (std::uint64_t i = from; i < to; ++i) reference[i] = attributes;
        }
        bool same = !bench.translate(table, begin - 1).valid() &&
                    !bench.translate(table, begin + pages * page_size).valid();
        for (unsigned i = 0; i < pages; ++i) {
            const std::uint64_t a = begin + i * page_size + random.below(page_size);
            const Translation t = bench.translate(table, a);
            same &= t.valid() == (reference[i] != nullptr);
            same &= (table.lookup(a) != 0) == t.valid();
            if (t.valid())
                same &= t.output(a) == a && t.executable() == (reference[i] == &lpae::guest_memory);
        }
        REQUIRE(same);
    }
}
