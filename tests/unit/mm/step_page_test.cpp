#include "mm/step_page.hpp"

#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint64_t gib = 1u << 30;
constexpr Range memory{2 * gib, 4 * gib};
constexpr std::uint32_t arm_smc = 0xe160'0070;
constexpr std::uint32_t thumb_smc = 0x8000'f7f0; // its first halfword comes first

struct Page {
    Bench bench;
    TablePool pool{bench.pool(8)};
    View shadow{Bench::root(pool)};
    StepPage page;
    std::uint64_t at{};

    Page() {
        REQUIRE(shadow.map(memory, lpae::guest_data, pool));
        REQUIRE(page.build(shadow, pool));
        CHECK(pool.end() - pool.begin() == 1 * lpae::table_entries);
    }
    void put(const GuestInstruction& code, bool thumb_vectors = false) {
        page.put(code, thumb_vectors);
        at = leaf(code.at.value).output(page_floor(code.at.value));
    }
    Translation leaf(std::uint64_t address) const {
        return walk(bench.simulation.ram, page.view().root().value, address);
    }
    template <class T = std::uint32_t>
    T load(unsigned offset) const {
        return bench.simulation.ram.load<T>(at + offset);
    }
};

} // namespace

TEST_CASE("a page for a step has the instruction, and SMC behind it and where vectors may be") {
    const bool thumb_vectors = GENERATE(false, true);
    const std::uint32_t filler = thumb_vectors ? thumb_smc : arm_smc;
    Page p;
    SECTION("ARM") {
        p.put({{memory.begin + 0x124}, 0xe490'1004, false, true}, thumb_vectors);
        CHECK(p.load(0x124) == 0xe490'1004);
        CHECK(p.load(0x128) == arm_smc);
        CHECK(p.load(0x120) == filler);
        CHECK(p.load(0x12c) == filler);
    }
    SECTION("Thumb, 16 bits") {
        p.put({{memory.begin + 0x126}, 0xc802, true, false}, thumb_vectors);
        CHECK(p.load<std::uint16_t>(0x126) == 0xc802);
        CHECK(p.load(0x128) == thumb_smc);
        CHECK(p.load(0x120) == filler);
        CHECK(p.load(0x12c) == filler);
    }
    SECTION("Thumb, 32 bits") {
        p.put({{memory.begin + 0x126}, 0xe8b0'0002, true, true}, thumb_vectors);
        CHECK(p.load<std::uint16_t>(0x126) == 0xe8b0);
        CHECK(p.load<std::uint16_t>(0x128) == 0x0002);
        CHECK(p.load<std::uint16_t>(0x12a) == 0xf7f0);
        CHECK(p.load<std::uint16_t>(0x12c) == 0x8000);
        CHECK(p.load(0x130) == filler);
    }
    SECTION("the last of the page") {
        p.put({{memory.begin + 0xffc}, 0xe490'1004, false, true}, thumb_vectors);
        CHECK(p.load(0xffc) == 0xe490'1004);
        CHECK(p.load(0) == filler);
    }
    p.put({{memory.begin + 0x800}, 0xe490'1004, false, true}, thumb_vectors);
    CHECK(p.load(0x124) == filler); // nothing of an earlier one is left
    CHECK(p.load(0x128) == filler);
    CHECK(p.load(0xffc) == filler);
}

TEST_CASE("a page for a step is in one place, and everything else is as in the shadow table") {
    Page p;
    for (const std::uint64_t at : {memory.begin + 0x5000, memory.begin + 0x60'5000,
                                   memory.begin + gib + 0x1000, memory.begin + 0x5000}) {
        p.put({{at}, 0xe490'1004, false, true});
        const Translation page = p.leaf(at);
        CHECK((page.executable() && page.readable() && !page.writable()));
        CHECK(page.output(at) != at);
        for (const std::uint64_t other :
             {memory.begin, memory.begin + 0x5000, memory.begin + 0x60'5000,
              memory.begin + gib + 0x1000, at - page_size, at + page_size, memory.end - 1}) {
            if (page_floor(other) == at) continue;
            const Translation leaf = p.leaf(other);
            CHECK((leaf.output(other) == other && leaf.writable() && !leaf.executable()));
        }
        CHECK(!p.leaf(memory.begin - 1).valid());
    }
    CHECK(p.bench.translate(p.shadow, memory.begin + 0x5000).level == 1); // it has not changed
}

TEST_CASE("an instruction fits a page if neither it nor an SMC behind it lies on two") {
    for (std::uint32_t left = 4; left < page_size; left += 4) {
        CHECK(StepPage::fits(page_size - left, true) == (left == 4 || left >= 8));
        CHECK(StepPage::fits(page_size - left, false) == (left != 4));
    }
    CHECK(!StepPage::fits(page_size - 2, true));
    CHECK(!StepPage::fits(page_size - 6, true));
    CHECK(StepPage::fits(page_size - 10, true));
    CHECK(StepPage::fits(page_size - 2, false));
    CHECK(StepPage::fits(page_size - 6, false));
}
