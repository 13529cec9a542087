// What the previous boot leaves in memory, and what the next one does with it.
#include "abi/layout.hpp"
#include "black_box/black_box.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "start/area.hpp"

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t area_base = 0x8200'0000 + abi::area_offset;
constexpr unsigned cpus = 2;

struct alignas(page_size) Page {
    std::byte bytes[page_size];
};

/// A copy of memory with the same alignment.
struct Bytes {
    std::vector<Page> pages;

    std::byte* data() { return pages.empty() ? nullptr : pages[0].bytes; }
    std::size_t size() const { return pages.size() * page_size; }
    std::byte& operator[](std::size_t at) { return data()[at]; }
};

/// The content of RAM at the area.
Bytes area_of(const Rig& rig, std::size_t size) {
    const std::byte* from = rig.simulation.ram.at({area_base});
    Bytes copy{std::vector<Page>(size / page_size)};
    std::copy(from, from + size, copy.data());
    return copy;
}

abi::AreaHeader& header_of(Bytes& area) {
    return *reinterpret_cast<abi::AreaHeader*>(area.data());
}
abi::RingHeader& ring_of(Bytes& area, unsigned cpu) {
    return *reinterpret_cast<abi::RingHeader*>(area.data() + header_of(area).ring_offset[cpu]);
}
abi::Record* records_of(Bytes& area, unsigned cpu) {
    return reinterpret_cast<abi::Record*>(&ring_of(area, cpu) + 1);
}

/// Boots over the content that `before` has; a reset leaves memory unchanged.
std::unique_ptr<Rig> boot(const RigOptions& options, Bytes before, unsigned rounds) {
    auto rig = std::make_unique<Rig>(options);
    std::copy(before.data(), before.data() + before.size(), rig->simulation.ram.at({area_base}));
    for (unsigned i = 0; i < options.conditions.cpus; ++i) write_hammer(rig->program(i), rounds);
    rig->run();
    REQUIRE(rig->failure() == "");
    REQUIRE(compare_with_bus(*rig) == "");
    return rig;
}

RigOptions options() {
    RigOptions o = options_for(abi::EngineKind::emulation, cpus, 11);
    o.conditions.step_limit = 60'000'000;
    o.conditions.switch_one_in = 10;
    o.tree.policy = "flight";
    return o;
}

const abi::AreaHeader& area(const Rig& rig) {
    return *reinterpret_cast<const abi::AreaHeader*>(rig.simulation.ram.at({area_base}));
}

/// The area after a first boot of `rounds`.
Bytes first_boot(unsigned rounds) {
    return area_of(*boot(options(), {}, rounds), options().tree.area_size);
}

abi::Kept second_boot(const Bytes& before) {
    return area(*boot(options(), before, 3)).kept;
}

/// What the copy says of a CPU's mark. A flipped bit may make it one of a slot: it has begun only
/// if that slot has no record.
abi::InFlight kept_mark(Bytes& before, unsigned cpu) {
    const abi::RingHeader& old = ring_of(before, cpu);
    if (!abi::is_slot_mark(old.in_flight)) return old.in_flight;
    const std::uint64_t slots =
        area_base + header_of(before).ring_offset[cpu] + sizeof(abi::RingHeader);
    const std::uint32_t slot = abi::slot_of(old.in_flight, slots);
    const bool begun = slot < old.capacity && records_of(before, cpu)[slot].commit == 0;
    return begun ? abi::InFlight::in_header : abi::InFlight::beginning;
}

/// Each intact record among the last of `before` is at its position; everything else is empty.
void require_same_records(Bytes& before, const abi::AreaHeader& kept, unsigned cpu) {
    const abi::RingHeader& old = ring_of(before, cpu);
    const auto& ring = *reinterpret_cast<const abi::RingHeader*>(
        reinterpret_cast<const std::byte*>(&kept) + kept.ring_offset[cpu]);
    REQUIRE(abi::position_of(ring) == abi::position_of(old));
    REQUIRE(ring.capacity == abi::kept_records);
    REQUIRE(std::memcmp(&ring.statistics, &old.statistics, sizeof ring.statistics) == 0);
    REQUIRE(ring.in_flight == kept_mark(before, cpu));
    if (old.in_flight == abi::InFlight::in_header) REQUIRE(ring.in_flight_pa == old.in_flight_pa);
    const auto* records = reinterpret_cast<const abi::Record*>(&ring + 1);
    const std::uint64_t head = abi::position_of(old);
    const std::uint64_t count = std::min({head, old.capacity, abi::kept_records});
    for (std::uint64_t at = head - count; at < head; ++at) {
        const abi::Record& was = records_of(before, cpu)[at % old.capacity];
        const abi::Record& is = records[at % ring.capacity];
        if (was.commit == abi::commit_word(old.boot_number, at))
            REQUIRE(std::memcmp(&was, &is, sizeof is) == 0);
        else REQUIRE(is.commit == 0);
    }
}

} // namespace

TEST_CASE("a cold start keeps nothing") {
    const auto rig = boot(options(), {}, 3);
    CHECK(area(*rig).kept == abi::Kept::none);
    CHECK(abi::previous_boot(area(*rig)) == nullptr);
}

TEST_CASE("the next boot keeps the last records of each CPU of the previous one") {
    const unsigned rounds = GENERATE(5u, 300u); // fewer than are kept, and more
    Bytes before = first_boot(rounds);
    ring_of(before, 1).in_flight = abi::InFlight::in_header;
    ring_of(before, 1).in_flight_pa = 0x1c13'0008;
    header_of(before).state = abi::AreaState::panicked;
    const auto rig = boot(options(), before, 3);
    const abi::AreaHeader* kept = abi::previous_boot(area(*rig));
    REQUIRE(kept != nullptr);
    CHECK(kept->magic == abi::area_magic);
    CHECK(kept->state == abi::AreaState::panicked);
    CHECK(kept->description_crc == description_crc(*kept, kept->region_count));
    CHECK(std::memcmp(kept->boot_id, header_of(before).boot_id, 16) == 0);
    CHECK(std::memcmp(area(*rig).boot_id, kept->boot_id, 16) != 0);
    CHECK(kept->region_count == header_of(before).region_count);
    CHECK(std::memcmp(kept + 1, &header_of(before) + 1,
                      kept->region_count * sizeof(abi::RegionEntry)) == 0);
    for (unsigned i = 0; i < cpus; ++i) require_same_records(before, *kept, i);
    CHECK((ring_of(before, 0).head > abi::kept_records) == (rounds == 300));
}

TEST_CASE("a record that an earlier boot has left in a slot is not a record of this boot") {
    const Bytes first = first_boot(300);
    Bytes second = area_of(*boot(options(), first, 3), first.size());
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        const abi::RingHeader& ring = ring_of(second, cpu);
        unsigned left = 0;
        for (std::uint64_t at = ring.head; at < std::uint64_t{ring.head} + ring.capacity; ++at) {
            const std::uint32_t commit = records_of(second, cpu)[at % ring.capacity].commit;
            left += commit != 0;
            REQUIRE(commit != abi::commit_word(ring.boot_number, at));
            REQUIRE(commit != abi::commit_word(ring.boot_number, at - ring.head));
        }
        CHECK(left > 500); // nothing was cleared
    }
}

TEST_CASE("an area with another layout than the last one begins with empty slots") {
    Bytes before = first_boot(300);
    header_of(before).area_size -= 4096;
    const auto rig = boot(options(), before, 3);
    REQUIRE(area(*rig).kept == abi::Kept::other_layout);
    Bytes now = area_of(*rig, before.size());
    const abi::RingHeader& ring = ring_of(now, 0);
    for (std::uint64_t at = ring.head; at < ring.capacity; ++at)
        REQUIRE(records_of(now, 0)[at].commit == 0);
}

TEST_CASE("a third boot keeps the second one's records") {
    const Bytes first = first_boot(5);
    Bytes second = area_of(*boot(options(), first, 3), first.size());
    const auto third = boot(options(), second, 3);
    REQUIRE(abi::previous_boot(area(*third)) != nullptr);
    CHECK(std::memcmp(abi::previous_boot(area(*third))->boot_id, header_of(second).boot_id, 16) ==
          0);
    for (unsigned i = 0; i < cpus; ++i)
        require_same_records(second, *abi::previous_boot(area(*third)), i);
}

TEST_CASE("incomplete records are left out") {
    Bytes before = first_boot(5);
    const std::uint64_t head = ring_of(before, 0).head;
    records_of(before, 0)[head - 1].commit = 0;
    records_of(before, 0)[head - 4].commit += 1;
    const auto rig = boot(options(), before, 3);
    REQUIRE(abi::previous_boot(area(*rig)) != nullptr);
    require_same_records(before, *abi::previous_boot(area(*rig)), 0);
}

TEST_CASE("an inconsistent area is not believed") {
    Bytes before = first_boot(5);
    abi::AreaHeader& header = header_of(before);
    SECTION("no magic") {
        header.magic ^= 1;
        CHECK(second_boot(before) == abi::Kept::none);
    }
    SECTION("version") {
        header.version_minor += 1;
        CHECK(second_boot(before) == abi::Kept::other_layout);
    }
    SECTION("size") {
        header.area_size += 4096;
        CHECK(second_boot(before) == abi::Kept::other_layout);
    }
    SECTION("CPUs") {
        header.cpu_count = 200;
        CHECK(second_boot(before) == abi::Kept::other_layout);
    }
    SECTION("a ring elsewhere") {
        header.ring_offset[1] = 0xffff'f000;
        CHECK(second_boot(before) == abi::Kept::other_layout);
    }
    SECTION("regions without end") {
        header.region_count = ~0u;
        CHECK(second_boot(before) == abi::Kept::damaged);
    }
    SECTION("a region") {
        reinterpret_cast<abi::RegionEntry*>(&header + 1)->base ^= 0x1000;
        CHECK(second_boot(before) == abi::Kept::damaged);
    }
    SECTION("never finished") {
        header.state = abi::AreaState::starting;
        CHECK(second_boot(before) == abi::Kept::damaged);
    }
    SECTION("a ring's capacity") {
        ring_of(before, 1).capacity = ~0ull;
        CHECK(second_boot(before) == abi::Kept::damaged);
    }
    SECTION("fields that may change at run time are no damage") {
        header.policy = abi::Policy::drop;
        reinterpret_cast<abi::RegionEntry*>(&header + 1)->flags ^= abi::region_traced;
        CHECK(second_boot(before) == abi::Kept::kept);
    }
    SECTION("an impossible head gives no record") {
        abi::set_position(ring_of(before, 0), (~0ull >> 1) - 5);
        const auto rig = boot(options(), before, 3);
        REQUIRE(abi::previous_boot(area(*rig)) != nullptr);
        require_same_records(before, *abi::previous_boot(area(*rig)), 0);
    }
}

TEST_CASE("each bit of the old header and rings may be flipped without harm or a wrong record") {
    const Bytes first = first_boot(5);
    Random random(3);
    for (std::uint64_t n = 0; n < seeds(60); ++n) {
        Bytes before = first;
        const std::size_t place = random.below(2) == 0
                                      ? random.below(sizeof(abi::AreaHeader))
                                      : header_of(before).ring_offset[0] + random.below(0x800);
        before[place] ^= static_cast<std::byte>(1u << random.below(8));
        CAPTURE(place);
        const auto rig = boot(options(), before, 1);
        if (const abi::AreaHeader* kept = abi::previous_boot(area(*rig)))
            for (unsigned i = 0; i < cpus; ++i) require_same_records(before, *kept, i);
    }
}

TEST_CASE("an area too small for two boots keeps nothing, and its rings have their usual size") {
    RigOptions small = options();
    small.tree.area_size = static_cast<std::uint32_t>(smallest_area(cpus));
    const Bytes first = area_of(*boot(small, {}, 3), small.tree.area_size);
    const auto rig = boot(small, first, 3);
    CHECK(area(*rig).kept == abi::Kept::no_room);
    CHECK(rig->ring(0).capacity == abi::min_capacity);
    const AreaLayout both(2 * smallest_area(cpus), cpus);
    CHECK(both.kept_offset != 0);
    CHECK(both.ring_offset(cpus - 1) + both.share <= both.kept_offset);
    CHECK(both.kept_offset + both.kept_size <= 2 * smallest_area(cpus));
    CHECK(both.capacity() >= abi::min_capacity);
}

TEST_CASE("a record of another CPU than its ring's is left out, whatever boot it claims") {
    Bytes before = first_boot(5);
    const std::uint64_t head = ring_of(before, 1).head;
    SECTION("among this boot's") {
        records_of(before, 1)[head - 2].cpu = 200;
    }
    SECTION("where an empty slot counts as a record") {
        ring_of(before, 1).boot_number = 0u - static_cast<std::uint32_t>(head - 1);
        records_of(before, 1)[head - 2].cpu = 200;
        records_of(before, 1)[head - 2].commit = 0;
    }
    const auto rig = boot(options(), before, 3);
    const abi::AreaHeader* kept = abi::previous_boot(area(*rig));
    REQUIRE(kept != nullptr);
    const auto* records = reinterpret_cast<const abi::Record*>(
        reinterpret_cast<const std::byte*>(kept) + kept->ring_offset[1] + sizeof(abi::RingHeader));
    for (std::uint64_t n = 0; n < abi::kept_records; ++n) REQUIRE(records[n].cpu < cpus);
}
