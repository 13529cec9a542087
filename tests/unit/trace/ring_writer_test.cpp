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
    /// An access with a payload of `size` bytes, which follow from `value`.
    void publish_group(std::uint64_t value, std::uint32_t size) {
        for (std::uint32_t i = 0; i < size; ++i) bytes[i] = byte_of(value, i);
        abi::Record r{};
        r.type = abi::RecordType::access;
        r.value = value;
        r.time = 1000 + value;
        r.device = 7;
        r.lock_sequence = static_cast<std::uint32_t>(value);
        writer.publish(r, {bytes, size});
    }
    static std::uint8_t byte_of(std::uint64_t value, std::uint32_t at) {
        return static_cast<std::uint8_t>(value * 31 + at);
    }
    /// Whether publish_group() has written this at `position`.
    bool is_group(std::uint64_t position, std::uint64_t value, std::uint32_t size) const {
        const abi::Record* before = &at(position);
        bool right = before->value == value && before->flags == abi::flag_payload &&
                     before->commit == static_cast<std::uint32_t>(position + 1);
        for (std::uint32_t done = 0; done < size; done += abi::piece_bytes) {
            const abi::Record& piece = at(++position);
            right &= abi::follows(piece, *before) && abi::is_sound_piece(piece) &&
                     piece.commit == static_cast<std::uint32_t>(position + 1) &&
                     abi::goes_on(piece) == (size - done > abi::piece_bytes) && piece.mode == 0 &&
                     piece.duration == 0;
            for (std::uint32_t i = 0; i < abi::piece_bytes; ++i)
                right &= abi::bytes_of(piece)[i] ==
                         (i < abi::bytes_in(piece) ? byte_of(value, done + i) : 0);
            right &= abi::bytes_in(piece) == std::min(abi::piece_bytes, size - done);
            before = &piece;
        }
        return right;
    }
    std::uint8_t bytes[abi::payload_limit];
    const abi::Record& at(std::uint64_t position) const { return slots[position % capacity]; }
    std::uint64_t& tail(unsigned reader = abi::host_reader) { return header.readers[reader].tail; }
};

/// Takes every access.
struct AnyChooser final : Chooser {
    AnyChooser() { any = true; }
    Verdict choose(const abi::Record&, std::uint32_t&) override { return Verdict::pass; }
    bool surely_takes(const abi::Record&, bool) const override { return true; }
    bool may_count(std::uint64_t, unsigned) const override { return false; }
    bool holds_all() const override { return false; }
    abi::Record notice() const override { return {}; }
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

TEST_CASE("a payload lies behind its record, at each place of the ring and of each size") {
    const auto policy = GENERATE(abi::Policy::drop, abi::Policy::flight);
    for (std::uint32_t size = 1; size <= 15 * abi::piece_bytes; size += size < 70 ? 1 : 23) {
        Ring ring(policy);
        std::uint32_t sequence = 0;
        for (std::uint64_t n = 0; n < 40; ++n) {
            const std::uint64_t position = ring.header.head;
            ring.publish_group(n, size);
            CAPTURE(size, n);
            REQUIRE(ring.header.head == position + 1 + abi::pieces_of(size));
            REQUIRE(ring.is_group(position, n, size));
            REQUIRE(ring.at(position).cpu_sequence == sequence);
            sequence += 1 + abi::pieces_of(size);
            REQUIRE(ring.header.next_sequence == sequence);
            REQUIRE(ring.header.others == (n + 1) * abi::pieces_of(size));
            ring.tail() = ring.header.head;
            ring.publish(n); // the next one has no payload
            REQUIRE(ring.at(ring.header.head - 1).flags == 0);
            ++sequence;
            ring.tail() = ring.header.head;
        }
        REQUIRE(ring.header.lost == 0);
    }
}

TEST_CASE("`drop` loses a record with all of its payload if there is no room for all of it") {
    Ring ring(abi::Policy::drop);
    ring.publish(0, capacity - 4);
    ring.publish_group(50, 4 * abi::piece_bytes); // needs one slot more than there is
    CHECK(ring.header.head == capacity - 4);
    CHECK(ring.header.lost == 5);
    CHECK(ring.header.first_lost == capacity - 4);
    CHECK(ring.header.others == 4);
    CHECK(ring.header.next_sequence == capacity + 1);
    ring.publish_group(51, 3 * abi::piece_bytes); // would have room, but not its gap record
    CHECK(ring.header.lost == 9);
    ring.publish_group(52, 2 * abi::piece_bytes);
    REQUIRE(ring.header.head == capacity);
    const abi::Record& gap = ring.at(capacity - 4);
    CHECK(gap.type == abi::RecordType::gap);
    CHECK(gap.value == 9);
    CHECK(gap.cpu_sequence == capacity - 4);
    CHECK(ring.is_group(capacity - 3, 52, 2 * abi::piece_bytes));
    CHECK(ring.at(capacity - 3).cpu_sequence == capacity - 4 + 9);
    for (std::uint64_t i = 0; i < capacity - 4; ++i) CHECK(ring.at(i).value == i);
}

TEST_CASE("room that was seen before is not given twice after a payload has taken it") {
    Ring ring(abi::Policy::drop);
    ring.publish(0); // sees room for all others
    ring.publish_group(1, 10 * abi::piece_bytes);
    ring.publish(2, 10);
    CHECK(ring.header.head == capacity);
    CHECK(ring.at(0).value == 0);
    CHECK(ring.header.lost == 6);
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

// One record was lost, and the gap record that tells it takes a slot, but no number: so slot and
// number are as far apart as before.
TEST_CASE("slots that were reserved are not reserved again without room, after a loss") {
    constexpr std::uint64_t slots = 2 * abi::reserve_batch;
    Ring ring(abi::Policy::flight);
    ring.writer.start(ring.header, 3, slots, abi::Policy::flight, true);
    std::uint32_t header = 0, slot = 0, sequence = 0, commit = 0, head = 0;
    const auto reserve = [&] { return ring.writer.reserve(header, slot, sequence, commit, head); };
    ring.publish(0, slots + 10);
    REQUIRE(reserve());
    CHECK(ring.writer.release(sequence) == 0);
    ring.publish(0, 1);
    REQUIRE(reserve()); // still
    CHECK(sequence == slots + 11);
    CHECK(ring.writer.release(sequence) == 0);

    ring.writer.set_policy(abi::Policy::drop);
    ring.tail() = ring.header.head - slots;
    AnyChooser any;
    ring.writer.obey(&any);
    ring.publish(0, 1);
    ring.writer.obey(nullptr);
    REQUIRE(ring.header.lost == 1);
    ring.tail() += 2;
    ring.publish(0, 1);
    REQUIRE(ring.header.head == ring.tail() + slots);
    CHECK(!reserve());
    ring.tail() += slots;
    CHECK(reserve());
}
