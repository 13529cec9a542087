#include "trace/ring_writer.hpp"

#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint64_t capacity = 16;

struct Ring {
    Bench bench;
    abi::RingHeader& header =
        *reinterpret_cast<abi::RingHeader*>(bench.simulation.ram.at({0x8300'0000}));
    abi::Record* slots = reinterpret_cast<abi::Record*>(&header + 1);
    RingWriter writer;

    explicit Ring(abi::Policy policy) { writer.start(header, 3, capacity, policy, true); }
    void publish(std::uint64_t value) {
        abi::Record r{};
        r.type = abi::RecordType::access;
        r.value = value;
        r.time = 1000 + value;
        writer.publish(r);
    }
    void publish(std::uint64_t first, unsigned count) {
        for (unsigned i = 0; i < count; ++i) publish(first + i);
    }
    const abi::Record& at(std::uint64_t position) const { return slots[position % capacity]; }
    std::uint64_t& tail(unsigned reader = abi::host_reader) { return header.readers[reader].tail; }
};

} // namespace

TEST_CASE("a started ring identifies itself and waits for the host's reader") {
    Ring ring(abi::Policy::drop);
    CHECK(ring.header.magic == abi::ring_magic);
    CHECK(ring.header.capacity == capacity);
    CHECK(ring.header.cpu == 3);
    CHECK(ring.header.record_size == sizeof(abi::Record));
    CHECK(ring.header.readers[abi::host_reader].active == 1);
    CHECK(ring.header.readers[abi::drain_reader].active == 0);
    CHECK(ring.writer.recent(0) == nullptr);
}

TEST_CASE("records are at their positions, numbered and committed, and wrap") {
    Ring ring(abi::Policy::drop);
    for (std::uint64_t i = 0; i < 5 * capacity + 3; ++i) {
        ring.publish(i);
        REQUIRE(ring.header.head == i + 1);
        REQUIRE(ring.at(i).value == i);
        REQUIRE(ring.at(i).commit == i + 1);
        REQUIRE(ring.at(i).cpu == 3);
        REQUIRE(ring.at(i).cpu_sequence == i);
        REQUIRE(ring.writer.recent(0) == &ring.at(i));
        ring.tail() = i + 1;
    }
    CHECK(ring.header.lost == 0);
    CHECK(ring.writer.recent(capacity - 1)->value == 5 * capacity + 3 - capacity);
    CHECK(ring.writer.recent(capacity) == nullptr);
}

TEST_CASE("`drop` keeps unread records, counts losses, and places them with a gap record") {
    Ring ring(abi::Policy::drop);
    ring.publish(0, capacity);
    ring.publish(100, 5);
    CHECK(ring.header.head == capacity);
    CHECK(ring.header.lost == 5);
    CHECK(ring.header.first_lost == capacity);
    CHECK(ring.header.last_lost == capacity);
    for (std::uint64_t i = 0; i < capacity; ++i) CHECK(ring.at(i).value == i);

    ring.tail() = 1; // room for one, and a gap needs another
    ring.publish(200);
    CHECK(ring.header.lost == 6);
    ring.tail() = 2;
    ring.publish(300);
    CHECK(ring.header.head == capacity + 2);
    const abi::Record& gap = ring.at(capacity);
    CHECK(gap.type == abi::RecordType::gap);
    CHECK(gap.value == 6);
    CHECK(gap.cpu_sequence == capacity);
    CHECK(gap.cpu == 3);
    CHECK(gap.commit == capacity + 1);
    CHECK(ring.at(capacity + 1).value == 300);
    CHECK(ring.at(capacity + 1).cpu_sequence == capacity + 6);
    ring.tail() = 10;
    ring.publish(301);
    CHECK(ring.at(capacity + 2).type == abi::RecordType::access); // one gap record for one gap
}

TEST_CASE("a ring counts the records that are no accesses, lost ones too") {
    Ring ring(abi::Policy::drop);
    const auto mark = [&ring] {
        abi::Record r{};
        r.type = abi::RecordType::marker;
        ring.writer.publish(r);
    };
    ring.publish(0, capacity - 1);
    mark();
    CHECK(ring.header.others == 1);
    mark(); // lost, as the access behind it
    ring.publish(100);
    CHECK(ring.header.others == 2);
    CHECK(ring.header.lost == 2);
    ring.tail() = 5;
    ring.publish(101); // with its gap record, which has no number of its own
    CHECK(ring.header.others == 2);
    CHECK(ring.header.next_sequence == capacity + 3);
}

TEST_CASE("`flight` overwrites the oldest and never loses the newest") {
    Ring ring(abi::Policy::flight);
    ring.publish(0, 3 * capacity + 5);
    CHECK(ring.header.lost == 0);
    CHECK(ring.header.head == 3 * capacity + 5);
    for (std::uint64_t i = 2 * capacity + 5; i < 3 * capacity + 5; ++i) {
        CHECK(ring.at(i).value == i);
        CHECK(ring.at(i).commit == i + 1);
    }
    CHECK(ring.writer.has_room(capacity * 2));
}

TEST_CASE("`stall` asks for room before, and the room includes the gap record") {
    Ring ring(abi::Policy::stall);
    ring.publish(0, capacity - 1);
    CHECK(ring.writer.has_room(1));
    CHECK(!ring.writer.has_room(2));
    ring.publish(1);
    CHECK(!ring.writer.has_room(1));
    ring.publish(2); // the hypervisor's own access cannot wait
    CHECK(ring.header.lost == 1);
    ring.tail() = 1;
    CHECK(!ring.writer.has_room(1));
    ring.tail() = 2;
    CHECK(ring.writer.has_room(1));
}

TEST_CASE("the slower of two active readers limits the room") {
    Ring ring(abi::Policy::drop);
    ring.publish(0, capacity);
    ring.tail() = capacity;
    CHECK(ring.writer.has_room(capacity));
    ring.header.readers[abi::drain_reader].active = 1;
    ring.tail(abi::drain_reader) = 4;
    CHECK(ring.writer.has_room(4));
    CHECK(!ring.writer.has_room(5));
    ring.header.readers[abi::host_reader].active = 0;
    ring.tail() = 0;
    CHECK(ring.writer.has_room(4));
}

TEST_CASE("an invalid or half-written word of a reader leaves the previous one in force") {
    Ring ring(abi::Policy::drop);
    ring.publish(0, capacity);
    ring.tail() = 4;
    CHECK(ring.writer.has_room(4));
    for (const std::uint64_t nonsense : {capacity + 1, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        ring.tail() = nonsense;
        CHECK(ring.writer.has_room(4));
        CHECK(!ring.writer.has_room(5));
    }
    ring.tail() = 5;
    CHECK(ring.writer.has_room(5));
}

TEST_CASE("losses are counted apart from what others write into the ring's head") {
    Ring ring(abi::Policy::drop);
    ring.publish(0, capacity + 1);
    ring.header.lost = 77;
    ring.publish(1);
    CHECK(ring.header.lost == 2);
}

TEST_CASE("readers that write nonsense cause neither a crash nor a loss for an honest reader") {
    for (std::uint64_t seed = 1; seed <= seeds(50); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        Ring ring(abi::Policy::drop);
        std::uint64_t read = 0;
        std::uint64_t seen = 0;
        std::uint64_t gaps = 0;
        for (unsigned step = 0; step < 300; ++step) {
            abi::Reader& hostile = ring.header.readers[abi::drain_reader];
            hostile.active = static_cast<std::uint32_t>(random.below(3));
            hostile.tail =
                random.one_in(2) ? random.next() : ring.header.head + random.below(40) - 20;
            ring.publish(step);
            REQUIRE(ring.header.head - read <= capacity); // nothing unread was overwritten
            if (!random.one_in(3)) continue;
            for (; read != ring.header.head; ++read) {
                REQUIRE(ring.at(read).commit == static_cast<std::uint32_t>(read + 1));
                if (ring.at(read).type == abi::RecordType::gap) gaps += ring.at(read).value;
                else ++seen;
            }
            ring.tail() = read;
        }
        for (; read != ring.header.head; ++read)
            if (ring.at(read).type == abi::RecordType::gap) gaps += ring.at(read).value;
            else ++seen;
        REQUIRE(gaps <= ring.header.lost);
        REQUIRE(seen + ring.header.lost == 300);
    }
}

TEST_CASE("an access is marked before its time is taken, until its record is there") {
    Ring ring(abi::Policy::drop);
    CHECK(ring.header.in_flight == abi::InFlight::none);
    const std::uint64_t time = ring.writer.begin(0x1234, 0x1c13'0000);
    CHECK(ring.header.in_flight == abi::InFlight::in_header);
    CHECK(ring.header.in_flight_time == time);
    CHECK(ring.header.in_flight_pc == 0x1234);
    CHECK(ring.header.in_flight_pa == 0x1c13'0000);
    ring.publish(1);
    CHECK(ring.header.in_flight == abi::InFlight::in_header);
    ring.writer.finish();
    CHECK(ring.header.in_flight == abi::InFlight::none);
    CHECK(ring.writer.begin(0, 0) > time);
}

TEST_CASE("a head is extended to a position, also before its half turn is counted") {
    constexpr std::uint64_t half = std::uint64_t{1} << 31;
    for (std::uint64_t turn = 0; turn < 6; ++turn)
        for (const std::uint64_t behind : {std::uint64_t{0}, std::uint64_t{1}, half - 1}) {
            const std::uint64_t position = turn * half + behind;
            const auto head = static_cast<std::uint32_t>(position);
            CHECK(abi::position_of(abi::half_turns_of(position), head) == position);
            if (turn != 0)
                CHECK(abi::position_of(abi::half_turns_of(position) - 1, head) == position);
        }
}
