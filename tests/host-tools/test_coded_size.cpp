// What a record takes at most in a stream: abi::max_coded_record is that, and not less.
#include "abi/coded_size.hpp"
#include "abi/record_codec.hpp"
#include "catch_2_or_3.hpp"
#include "records.hpp"

#include <cmath>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <vector>

using namespace mmioscope;

namespace {

/// Counts what an encoder would be given.
struct Counter {
    static constexpr bool encoding = true;
    unsigned predicted{};
    unsigned unpredicted{};

    bool bit(abi::Probability& p, bool b) {
        p.update(b);
        ++predicted;
        return b;
    }
    std::uint32_t raw(std::uint32_t bits, unsigned count) {
        unpredicted += count;
        return bits;
    }
    unsigned most_bits() const { return predicted * abi::Probability::most_bits + unpredicted; }
};

unsigned most_bits(abi::RecordModel& model, abi::Record record) {
    Counter counter;
    abi::RecordCodec<Counter>(counter, model, 0).code(record);
    return counter.most_bits();
}

/// Nothing in it is what a model expects. Its numbers are `far` from what is expected if the model
/// is empty.
abi::Record unexpected(std::uint32_t far) {
    abi::Record r = test::access(7, far, far);
    r.type = abi::RecordType::marker;
    r.mode = 0xff;
    r.flags = 0xff;
    r.device = 255;
    r.commit = far + 1 + far;
    r.lock_sequence = far;
    r.pa_low = far;
    r.va = far + far;
    r.pc = r.task = r.sp = r.lr = far;
    r.value = 0x8123'4567'89ab'cdef;
    r.duration = 2 * far;
    return r;
}

/// A guest's records, of which all is known in the end: first what differs is small, then only
/// their places do, then they are those of a few places. Each part has `count`.
std::vector<abi::Record> lesson(std::mt19937& random, unsigned count) {
    std::vector<abi::Record> records;
    const auto bit = [&] { return static_cast<std::uint8_t>(random() % 2); };
    for (unsigned i = 0; i < 3 * count; ++i) {
        abi::Record r = test::access(0, i, 100 * i);
        r.commit = i + 1;
        r.pc = i < 2 * count ? i : 2 * count - 1 - random() % 8;
        r.va = r.pa_low;
        r.value = std::uint64_t{bit()} << 56 | bit();
        r.lr = r.sp = r.task = std::min(i, count);
        if (i < count) {
            r.access = bit();
            r.mode = bit();
            r.flags = bit();
            r.device = bit();
            r.type = static_cast<abi::RecordType>(1 + bit());
            r.cpu_sequence = 2 * i;
            r.commit = r.lock_sequence = 3 * i;
        }
        records.push_back(r);
    }
    return records;
}

std::size_t bytes_of_last(const std::vector<abi::Record>& before, abi::Record& last) {
    std::vector<std::uint8_t> bytes(1 << 20);
    const auto model = std::make_unique<abi::RecordModel>();
    abi::Encoder encoder;
    encoder.start(bytes.data(), bytes.size());
    abi::RecordCodec<abi::Encoder> codec(encoder, *model, 0);
    for (abi::Record record : before) codec.code(record);
    const std::size_t so_far = encoder.size();
    codec.code(last);
    return encoder.finish() - so_far;
}

} // namespace

TEST_CASE(
    "a coded record: what one takes at most is what one takes of which nothing was expected") {
    // 29 bits and a sign: the first four are predicted, which takes more than 64 that are not
    constexpr std::uint32_t number = 0x1234'5678;
    const auto model = std::make_unique<abi::RecordModel>();
    CHECK(most_bits(*model, unexpected(number)) == abi::MostBits::record);
}

TEST_CASE("a coded record takes no more than its most, whatever came before it") {
    std::mt19937 random(9);
    const auto model = std::make_unique<abi::RecordModel>();
    abi::Record record = unexpected(1);
    for (int i = 0; i < 20'000; ++i) {
        auto* bytes = reinterpret_cast<std::uint8_t*>(&record);
        for (auto changes = random() % 40; changes > 0; --changes)
            bytes[random() % sizeof record] = static_cast<std::uint8_t>(random());
        record.cpu %= abi::max_cpus;
        record.device = record.device % 4 == 0 ? abi::no_device : record.device % abi::max_regions;
        if (most_bits(*model, record) > abi::MostBits::any) FAIL(i);
    }
}

TEST_CASE("a coded record: a bit that was never expected costs no more than its most") {
    // the least of a range that is left, by Encoder: range is 2^24 at least
    const auto bits = [](std::uint32_t part) { return std::log2(257.0 * 65536 / (256.0 * part)); };
    double most = 0;
    std::set<std::uint16_t> seen;
    std::queue<abi::Probability> next;
    next.emplace();
    while (!next.empty()) {
        const abi::Probability p = next.front();
        next.pop();
        std::uint16_t state = 0;
        std::memcpy(&state, &p, sizeof state);
        if (!seen.insert(state).second) continue;
        most = std::max({most, bits(p.zero()), bits(65536 - p.zero())});
        for (const bool bit : {false, true}) {
            next.push(p);
            next.back().update(bit);
        }
    }
    CHECK(seen.size() > 1000);
    // of 16 bits that are not predicted, 1/256 is rounded away
    CHECK(most + std::log2(257.0 / 256) <= abi::Probability::most_bits);
}

TEST_CASE("a coded record: a guest that repeats itself, and then does not, gets its room") {
    std::mt19937 random(10);
    std::size_t most = 0;
    for (unsigned count = 20; count < 400; count += 20) {
        abi::Record last = unexpected(0x6789'abcd);
        most = std::max(most, bytes_of_last(lesson(random, count), last));
    }
    CHECK(most > 128); // the room that a frame once had
    CHECK(most <= abi::max_coded_record);
}
