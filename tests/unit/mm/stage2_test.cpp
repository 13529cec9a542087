#include "start/tables.hpp"

#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"
#include "unprotect/shared_page.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

struct Tables {
    Bench bench;
    TablePool pool{bench.pool(64)};
    RegionTable regions;
    RegionMap map;
    MemoryMap memory;
    TranslationTable normal;
    TranslationTable shadow;

    void add(std::uint64_t base, std::uint64_t size, std::uint16_t flags = 0) {
        abi::RegionEntry entry{};
        entry.base = base;
        entry.size = size;
        entry.flags = flags;
        REQUIRE(regions.push_back(entry));
    }
    void layout() { REQUIRE(map.build(regions)); }
    void trace(std::uint64_t begin, std::uint64_t size) {
        REQUIRE(map.select({begin, begin + size}, true));
    }
    void build() {
        normal = TranslationTable(bench.root(pool));
        shadow = TranslationTable(bench.root(pool));
        REQUIRE(build_stage2(normal, nullptr, memory, regions, map, lpae::guest_memory, pool));
        REQUIRE(build_stage2(shadow, &normal, memory, regions, map, lpae::guest_memory, pool));
    }
    bool in_normal(std::uint64_t a) const { return bench.translate(normal, a).valid(); }
    bool in_shadow(std::uint64_t a) const { return bench.translate(shadow, a).valid(); }
};

/// MemAttr of stage 2 (B3.6.2).
unsigned memory_type(const Translation& leaf) {
    return leaf.descriptor >> 2 & 0xf;
}

} // namespace

TEST_CASE("a traced page is invalid in the normal table and Non-cacheable in the shadow table") {
    Tables t;
    t.add(0x1c13'0000, 0x1000);
    t.layout();
    t.trace(0x1c13'0000, 0x1000);
    t.build();
    CHECK(!t.in_normal(0x1c13'0000));
    CHECK(t.in_shadow(0x1c13'0fff));
    const Translation leaf = t.bench.translate(t.shadow, 0x1c13'0000);
    CHECK(memory_type(leaf) == 0x5); // Normal: refusing unaligned accesses is left to stage 1
    CHECK(!leaf.executable());
    CHECK(leaf.writable());
    CHECK(!t.in_shadow(0x1c13'1000));
}

TEST_CASE("stage 1 alone decides the memory type of an untraced device") {
    Tables t;
    t.add(0x1800'0000, 0x80'0000); // video memory, or a PCI BAR
    t.layout();
    t.build();
    const Translation leaf = t.bench.translate(t.normal, 0x1812'3000);
    CHECK(memory_type(leaf) == 0xf);        // Normal Write-Back, inner and outer,
    CHECK((leaf.descriptor >> 8 & 3) == 0); // Non-shareable: the weakest of each (B3.8)
    CHECK(!leaf.executable());
    CHECK(leaf.writable());
}

TEST_CASE("a page shared by a traced and an untraced device traps") {
    Tables t;
    t.add(0x1c14'0000, 0x100);
    t.add(0x1c14'0100, 0x100);
    t.layout();
    t.trace(0x1c14'0100, 0x100);
    t.build();
    CHECK(!t.in_normal(0x1c14'0000));
    CHECK(t.in_shadow(0x1c14'0000));
}

TEST_CASE("only the pages of a region that have traced bytes trap") {
    Tables t;
    t.add(0x1c15'0080, 0x4f80); // ends in the fifth page
    t.layout();
    t.trace(0x1c15'1ffc, 8);
    t.build();
    CHECK(t.in_normal(0x1c15'0000));
    CHECK(!t.in_normal(0x1c15'1000));
    CHECK(!t.in_normal(0x1c15'2000));
    CHECK(t.in_normal(0x1c15'3000));
    CHECK(t.in_normal(0x1c15'4000));
    for (std::uint64_t a = 0x1c15'0000; a < 0x1c15'5000; a += page_size) CHECK(t.in_shadow(a));
}

TEST_CASE("the hypervisor's UART is in no table") {
    Tables t;
    t.add(0x1c0a'0000, 0x1000);
    t.layout();
    REQUIRE(t.map.withhold({0x1c0a'0000, 0x1c0a'1000}));
    t.build();
    CHECK(!t.in_normal(0x1c0a'0000));
    CHECK(!t.in_shadow(0x1c0a'0000));
}

TEST_CASE("a device in the UART's page traps, traced or not, and is reached by the shadow table") {
    Tables t;
    t.add(0x1c0a'0000, 0x200);
    t.add(0x1c0a'0200, 0x100);
    t.layout();
    REQUIRE(t.map.withhold({0x1c0a'0000, 0x1c0a'0200}));
    if (GENERATE(false, true)) t.trace(0x1c0a'0200, 0x100);
    t.build();
    CHECK(!t.in_normal(0x1c0a'0000));
    CHECK(t.in_shadow(0x1c0a'0000));
}

TEST_CASE("memory is mapped as memory in both tables, holes stay holes") {
    Tables t;
    REQUIRE(t.memory.push_back({0x8000'0000, 0x8800'0000}));
    REQUIRE(t.memory.push_back({0x8900'0000, 0xa000'0000}));
    t.build();
    for (const auto* table : {&t.normal, &t.shadow}) {
        CHECK(t.bench.translate(*table, 0x8000'0000).level == 2);
        CHECK(!t.bench.translate(*table, 0x8000'0000).device());
        CHECK(t.bench.translate(*table, 0x8000'0000).executable());
        CHECK(!t.bench.translate(*table, 0x8800'0000).valid());
        CHECK(!t.bench.translate(*table, 0x88ff'ffff).valid());
        CHECK(t.bench.translate(*table, 0x8900'0000).valid());
    }
}

TEST_CASE("regions above 4 GiB are left out, for stage 2 translates 32 bits") {
    Tables t;
    t.add(0x1'1c13'0000, 0x1000);
    t.add(0xffff'f000, 0x1000);
    t.layout();
    t.build();
    CHECK(!t.in_normal(0x1c13'0000));
    CHECK(t.in_normal(0xffff'f000));
}

TEST_CASE("random regions and choices agree with a page-wise reference") {
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        Tables t;
        constexpr std::uint64_t base = 0x1c00'0000;
        constexpr std::uint64_t pages = 64;
        for (unsigned i = 0; i < 20; ++i)
            t.add(base + random.below(pages * page_size - 0x4000), 1 + random.below(0x4000));
        t.layout();
        for (unsigned i = 0; i < 6; ++i) {
            const std::uint64_t begin = base + random.below(pages * page_size);
            REQUIRE(t.map.select({begin, begin + random.below(0x3000)}, !random.one_in(3)));
        }
        const std::uint64_t withheld = base + random.below(pages * page_size);
        REQUIRE(t.map.withhold({withheld, withheld + 0x100}));
        t.build();
        for (std::uint64_t page = 0; page < pages; ++page) {
            bool reachable = false, traced = false, hidden = false;
            for (std::uint64_t a = base + page * page_size; a < base + (page + 1) * page_size; ++a)
                if (const Span* span = t.map.find({a})) {
                    reachable |= span->mapped != Mapped::never;
                    traced |= span->traced();
                    hidden |= span->mapped == Mapped::never;
                }
            const std::uint64_t a = base + page * page_size;
            CAPTURE(a, reachable, traced, hidden);
            REQUIRE(t.in_normal(a) == (reachable && !traced && !hidden));
            REQUIRE(t.in_shadow(a) == reachable);
        }
    }
}

TEST_CASE("under the baseline a device's whole blocks have one descriptor each, its other pages "
          "their own") {
    constexpr std::uint64_t begin = 0x1010'0000, size = 0x2ef0'0000; // 64 tables are too few
    Tables t;
    t.add(begin, size);
    t.layout();
    t.trace(begin, size);
    t.build();
    REQUIRE(add_shared_pages(t.normal, t.shadow, t.map, t.pool));
    const auto at = [&t](std::uint64_t a) { return &shared_descriptor(t.normal, a); };
    CHECK(at(0x1010'0000) != at(0x1010'1000));
    CHECK(at(0x1020'0000) == at(0x103f'f000));
    CHECK(at(0x1020'0000) != at(0x1040'0000));
    for (const std::uint64_t a : {0x1010'1000, 0x103f'f000, 0x3eff'f000}) {
        CHECK(!t.in_normal(a));
        *at(a) |= lpae::valid;
        CHECK(t.bench.translate(t.normal, a).output(a) == a);
        CHECK(memory_type(t.bench.translate(t.normal, a)) ==
              memory_type(t.bench.translate(t.shadow, a)));
    }
}
