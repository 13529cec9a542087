#include "trace/region_map.hpp"

#include "catch_2_or_3.hpp"
#include "sim/random.hpp"

#include <memory>
#include <set>
#include <vector>

using namespace mmioscope;
using sim::Random;
using sim::seeds;

namespace {

struct Fixture {
    std::unique_ptr<RegionTable> regions = std::make_unique<RegionTable>();
    std::unique_ptr<RegionMap> map = std::make_unique<RegionMap>();

    void add(std::uint64_t base, std::uint64_t size) {
        abi::RegionEntry entry{};
        entry.base = base;
        entry.size = size;
        REQUIRE(regions->push_back(entry));
    }
    void build() { REQUIRE(map->build(*regions)); }
    int region_at(std::uint64_t a) const {
        const Span* span = map->find({a});
        return span != nullptr ? span->region : -1;
    }
};

} // namespace

TEST_CASE("an address between regions belongs to none") {
    Fixture f;
    f.add(0x2000, 0x100);
    f.add(0x1000, 0x100);
    f.build();
    CHECK(f.region_at(0xfff) == -1);
    CHECK(f.region_at(0x1000) == 1);
    CHECK(f.region_at(0x10ff) == 1);
    CHECK(f.region_at(0x1100) == -1);
    CHECK(f.region_at(0x2000) == 0);
    CHECK(f.region_at(0x2100) == -1);
}

TEST_CASE("a byte in nested regions belongs to the innermost, whatever their order in the tree") {
    const bool outer_first = GENERATE(true, false);
    Fixture f;
    if (outer_first) f.add(0x1000, 0x1000);
    f.add(0x1400, 0x100);
    f.add(0x1440, 0x10);
    if (!outer_first) f.add(0x1000, 0x1000);
    f.build();
    const int outer = outer_first ? 0 : 2;
    const int first_inner = outer_first ? 1 : 0;
    CHECK(f.region_at(0x13ff) == outer);
    CHECK(f.region_at(0x1400) == first_inner);
    CHECK(f.region_at(0x1444) == first_inner + 1);
    CHECK(f.region_at(0x1450) == first_inner);
    CHECK(f.region_at(0x1500) == outer);
}

TEST_CASE("a choice cuts spans at its edges; a later exclusion wins") {
    Fixture f;
    f.add(0x1000, 0x1000);
    f.build();
    REQUIRE(f.map->select({0x1100, 0x1200}, true));
    REQUIRE(f.map->select({0x1180, 0x1190}, false));
    CHECK(!f.map->find({0x10ff})->traced());
    CHECK(f.map->find({0x1100})->traced());
    CHECK(!f.map->find({0x1180})->traced());
    CHECK(f.map->find({0x1190})->traced());
    CHECK(!f.map->find({0x1200})->traced());
    for (const std::uint64_t a : {0x1000u, 0x1100u, 0x1180u, 0x1fffu}) CHECK(f.region_at(a) == 0);
}

TEST_CASE("withheld bytes cannot be traced, selected before or after") {
    Fixture f;
    f.add(0x1000, 0x100);
    f.build();
    REQUIRE(f.map->select({0x1000, 0x1100}, true));
    REQUIRE(f.map->withhold({0x1000, 0x1100}));
    CHECK(!f.map->find({0x1000})->traced());
    REQUIRE(f.map->select({0, 0x10000}, true));
    CHECK(!f.map->find({0x1000})->traced());
    CHECK(f.map->find({0x1000})->mapped == Mapped::never);
}

TEST_CASE("a page traps if one byte of it is traced, withheld or always trapped") {
    Fixture f;
    f.add(0x1ff0, 0x20); // the last bytes of one page, the first of the next
    f.add(0x3000, 0x1000);
    f.build();
    CHECK(!f.map->page_trapped({0x1000}));
    SECTION("traced") {
        REQUIRE(f.map->select({0x1fff, 0x2000}, true));
    }
    SECTION("withheld") {
        REQUIRE(f.map->withhold({0x1ff0, 0x1ff1}));
    }
    SECTION("trapped") {
        REQUIRE(f.map->hook({0x1ff8, 0x1ffc}, machine_register_hooks));
    }
    CHECK(f.map->page_trapped({0x1000}));
    CHECK(f.map->page_trapped({0x1fff}));
    CHECK(!f.map->page_trapped({0x2000}));
    CHECK(!f.map->page_trapped({0x3000}));
}

TEST_CASE("a run of bytes is traced if any byte of it is, at its ends or in between") {
    Fixture f;
    f.add(0x1000, 0x100);
    f.add(0x1200, 0x100);
    f.build();
    REQUIRE(f.map->select({0x1240, 0x1244}, true));
    CHECK(f.map->any_traced({0x1000, 0x1300}));
    CHECK(f.map->any_traced({0x1000, 0x1241}));
    CHECK(f.map->any_traced({0x1243, 0x1280}));
    CHECK(!f.map->any_traced({0x1000, 0x1240}));
    CHECK(!f.map->any_traced({0x1244, 0x1300}));
}

TEST_CASE("a full map says so") {
    Fixture f;
    for (unsigned i = 0; i < abi::max_regions; ++i) f.add(0x1000 * i, 0x1000);
    f.build();
    bool room = true;
    for (unsigned i = 0; i < abi::max_regions && room; ++i)
        room = f.map->select({0x1000 * i + 0x10, 0x1000 * i + 0x20}, true);
    CHECK(!room);
}

TEST_CASE("random regions and choices agree with a map of bytes") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        Fixture f;
        constexpr std::uint64_t size = 3 * page_size;
        struct Byte {
            int region = -1;
            std::uint64_t region_size = ~std::uint64_t{0};
            bool traced = false;
            bool withheld = false;
        };
        std::vector<Byte> bytes(size);
        std::set<std::uint64_t> lengths;
        for (int i = 0; i < 12; ++i) {
            const std::uint64_t begin = random.below(size - 1);
            // Different sizes: which of two equal regions is inside is not defined.
            std::uint64_t length =
                std::min(size - begin, (1 + random.below(200)) * 16 + static_cast<unsigned>(i));
            while (length > 1 && !lengths.insert(length).second) --length;
            f.add(begin, length);
            for (std::uint64_t a = begin; a < begin + length; ++a)
                if (length < bytes[a].region_size) {
                    bytes[a].region = i;
                    bytes[a].region_size = length;
                }
        }
        f.build();
        for (int i = 0; i < 10; ++i) {
            const std::uint64_t begin = random.below(size);
            const std::uint64_t end = begin + random.below(size - begin + 1);
            const bool withhold = i == 4;
            const bool traced = random.one_in(2);
            REQUIRE(
                (withhold ? f.map->withhold({begin, end}) : f.map->select({begin, end}, traced)));
            for (std::uint64_t a = begin; a < end; ++a) {
                bytes[a].withheld |= withhold;
                bytes[a].traced = !withhold && traced && !bytes[a].withheld;
            }
        }
        bool same = true;
        for (std::uint64_t a = 0; a < size; ++a) {
            const Span* span = f.map->find({a});
            same &= f.region_at(a) == bytes[a].region;
            if (span != nullptr)
                same &= span->traced() == bytes[a].traced &&
                        (span->mapped == Mapped::never) == bytes[a].withheld;
        }
        REQUIRE(same);
        for (std::uint64_t page = 0; page < size; page += page_size) {
            bool trapped = false;
            for (std::uint64_t a = page; a < page + page_size; ++a)
                trapped |= bytes[a].region >= 0 && (bytes[a].traced || bytes[a].withheld);
            REQUIRE(f.map->page_trapped({page}) == trapped);
        }
    }
}
