// What runs with the MMU off, as assembled and compiled for the target: the way from the caches of
// a boot loader to memory, the vectors before the first C++, and copies without an alignment fault.
#include "arch/control.hpp"
#include "catch_2_or_3.hpp"
#include "sim/boot_code.hpp"
#include "sim/scheduler.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr unsigned supervisor = 0x13, hyp = 0x1a;
constexpr std::uint32_t m_c_i = arch::hsctlr_m | arch::hsctlr_c | arch::hsctlr_i;
constexpr std::uint32_t alignment_faults = 1 << 1;
constexpr std::uint32_t res1 = arch::hsctlr_res1;

/// Any caches of one to three levels, as CLIDR and CCSIDR may describe them.
std::vector<CacheLevel> any_levels(Random& random) {
    std::vector<CacheLevel> levels;
    for (unsigned n = 0, count = 1 + static_cast<unsigned>(random.below(3)); n < count; ++n)
        levels.push_back({.data = !random.one_in(5),
                          .log2_line = 5 + static_cast<unsigned>(random.below(2)),
                          .sets = 1u + static_cast<unsigned>(random.below(40)),
                          .ways = 1u + static_cast<unsigned>(random.below(16))});
    return levels;
}

/// What `action` fails with; empty if it does not.
template <class Action>
std::string failure_of(Action&& action) {
    try {
        action();
    } catch (const Failure& failure) {
        return failure.text;
    }
    return "";
}

} // namespace

TEST_CASE("all that a loader with its caches on has stored is in memory before the MMU goes off",
          "[boot]") {
    const unsigned mode = GENERATE(supervisor, hyp);
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(mode, seed);
        Random random(seed);
        const std::vector<CacheLevel> levels = any_levels(random);
        SetWayCaches caches(levels, random);
        for (unsigned n = 0; n < levels.size(); ++n)
            for (unsigned lines = 0; lines < 20; ++lines) caches.fill(n);
        for (unsigned n = 0; n < 5; ++n) caches.store();
        BootCode code(caches, random, mode, res1 | m_c_i);
        code.r_[9] = mode;
        code.r_[11] = res1 | m_c_i;
        const auto run = [&] { code.run("mmu_off", {BootCode::symbol("mmu_is_off")}); };
        REQUIRE(failure_of(run) == "");
        REQUIRE(caches.dirty(~0u) == 0);
        REQUIRE(code.control() == res1);
        REQUIRE(code.starts_afresh());
        REQUIRE(code.level_selected() == 0);
    }
}

TEST_CASE("a CPU that leaves the coherency domain has emptied its level 1", "[boot]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<CacheLevel> levels = any_levels(random);
        levels[0].data = true;
        SetWayCaches caches(levels, random);
        for (unsigned n = 0; n < 20; ++n) caches.fill(0);
        for (unsigned n = 0; n < 5; ++n) caches.store();
        BootCode code(caches, random, hyp, m_c_i);
        constexpr std::uint32_t back = 0x9000'0000;
        code.aligned_only = false;
        code.r_[13] = 0x8000'1000;
        code.r_[14] = back;
        const std::uint32_t selected = code.level_selected();
        const std::vector<std::uint32_t> kept(code.r_ + 4, code.r_ + 14);
        bool slept = false;
        code.on_sleep = [&] {
            slept = true;
            CHECK(code.effective<reg::ACTLR>() == 0);
            CHECK(caches.dirty(0) == 0);
        };
        const auto run = [&] { code.run("_ZN9mmioscope4port22wait_outside_coherencyEv", {back}); };
        REQUIRE(failure_of(run) == "");
        REQUIRE(slept);
        REQUIRE(code.control() == m_c_i);
        REQUIRE(code.level_selected() == selected);
        REQUIRE(std::vector<std::uint32_t>(code.r_ + 4, code.r_ + 14) == kept);
        REQUIRE(code.effective<reg::ACTLR>() == arch::actlr_smp);
    }
}

TEST_CASE("before the first C++ there are vectors that print, and alignment faults", "[boot]") {
    const unsigned mode = GENERATE(supervisor, hyp);
    Random random(1);
    SetWayCaches caches({}, random);
    constexpr std::uint32_t high_thumb_big_endian = 1 << 13 | 1 << 25 | 1 << 30;
    BootCode code(caches, random, mode, high_thumb_big_endian);
    constexpr std::uint32_t r2 = 0x1234'5670;
    code.r_[2] = r2;
    const auto run = [&] { code.run("_start", {BootCode::symbol("mmioscope_find_board")}); };
    REQUIRE(failure_of(run) == "");
    CHECK(code.r_[0] == r2);
    CHECK((mode == hyp ? code.effective<reg::HVBAR>() : code.effective<reg::VBAR>()) ==
          BootCode::symbol(mode == hyp ? "hyp_vectors" : "boot_vectors"));
    CHECK(BootCode::symbol("boot_vectors") % 32 == 0);
    if (mode == hyp) CHECK(code.effective<reg::HTPIDR>() == 0); // no state yet
    CHECK((code.control() & (alignment_faults | high_thumb_big_endian | m_c_i)) ==
          alignment_faults);
}

TEST_CASE("memcpy copies from and to any address without an unaligned access", "[boot]") {
    constexpr std::uint32_t from = 0x9000'0000, to = 0x9000'1000, stack = 0x9000'2000,
                            back = 0x9000'3000;
    for (unsigned sizes = 0; sizes < 16; ++sizes)
        for (unsigned offsets = 0; offsets < 16; ++offsets) {
            Random random(sizes);
            const auto size = static_cast<std::uint32_t>(sizes < 8 ? sizes : random.below(100));
            const std::uint32_t source = from + offsets % 4, target = to + offsets / 4;
            CAPTURE(size, source, target);
            SetWayCaches caches({}, random);
            BootCode code(caches, random, hyp, 0);
            for (unsigned n = 0; n < size; ++n)
                code.memory[source + n] = static_cast<std::uint8_t>(random.next());
            code.r_[0] = target;
            code.r_[1] = source;
            code.r_[2] = size;
            code.r_[13] = stack;
            code.r_[14] = back;
            REQUIRE(failure_of([&] { code.run("memcpy", {back}); }) == "");
            CHECK(code.r_[0] == target);
            for (unsigned n = 0; n < size; ++n)
                CHECK(code.memory[target + n] == code.memory[source + n]);
            CHECK(!code.memory.contains(target + size));
            CHECK(!code.memory.contains(target - 1));
        }
}
