// The coding of records: decoding restores any input, and ends for any damaged bytes.
#include "abi/record_codec.hpp"
#include "catch_2_or_3.hpp"
#include "records.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

using namespace mmioscope;

namespace {

using Records = std::vector<abi::Record>;
using Random = std::mt19937;

template <class Coder>
struct Codec {
    Coder coder;
    abi::RecordModel model{};
    abi::RecordCodec<Coder> records;

    explicit Codec(unsigned shift) : records(coder, model, shift) {}
};

std::vector<std::uint8_t> encode(const Records& records, unsigned shift) {
    std::vector<std::uint8_t> bytes(100 * records.size() + 100);
    const auto codec = std::make_unique<Codec<abi::Encoder>>(shift);
    codec->coder.start(bytes.data(), bytes.size());
    for (abi::Record record : records) codec->records.code(record);
    const std::size_t size = codec->coder.finish();
    REQUIRE(size <= bytes.size());
    bytes.resize(size);
    return bytes;
}

Records decode(const std::vector<std::uint8_t>& bytes, std::size_t count, unsigned shift) {
    Records records(count);
    const auto codec = std::make_unique<Codec<abi::Decoder>>(shift);
    codec->coder.start(bytes.data(), bytes.size());
    for (abi::Record& record : records) codec->records.code(record);
    return records;
}

bool same(const Records& a, const Records& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

abi::Record random_record(Random& random) {
    abi::Record record;
    std::uint32_t words[sizeof record / 4];
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
    std::memcpy(&record, words, sizeof record);
    record.cpu %= abi::max_cpus;
    record.device = record.device % 4 == 0 ? abi::no_device : record.device % abi::max_regions;
    return record;
}

/// A few instructions, repeated on two CPUs.
Records loop(Random& random, std::size_t count) {
    Records records;
    std::uint32_t locks[3]{};
    std::uint32_t sequence[2]{};
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned cpu = random() % 8 == 0 ? 1 : 0;
        const auto place = static_cast<unsigned>(i % 3);
        abi::Record record = test::access(cpu, sequence[cpu], 1000 * i + random() % 100);
        record.commit = ++sequence[cpu];
        record.device = static_cast<std::uint16_t>(place);
        record.lock_sequence = locks[place]++;
        record.pc = 0xc0008000 + 4 * place;
        record.value = place == 0 ? 'a' + random() % 26 : 0x10;
        record.duration = 200;
        records.push_back(record);
    }
    return records;
}

} // namespace

TEST_CASE("records of random bits come out as they went in") {
    Random random(1);
    Records records;
    for (int i = 0; i < 3000; ++i) records.push_back(random_record(random));
    CHECK(same(decode(encode(records, 0), records.size(), 0), records));
}

TEST_CASE("a loop takes few bytes, and comes out as it went in") {
    Random random(3);
    const Records records = loop(random, 2000);
    const std::vector<std::uint8_t> bytes = encode(records, 0);
    CHECK(bytes.size() < 3 * records.size());
    CHECK(same(decode(bytes, records.size(), 0), records));
}

TEST_CASE("a field that differs from its prediction, once or from then on, comes out as it is") {
    Random random(7);
    const Records records = loop(random, 60);
    for (const bool once : {true, false})
        for (std::size_t byte = 0; byte < sizeof(abi::Record); ++byte) {
            CAPTURE(once, byte);
            if (byte == offsetof(abi::Record, device) + 1) continue; // there is no such region
            Records changed = records;
            for (std::size_t i = 40; i < (once ? 41 : changed.size()); ++i) {
                std::uint8_t bytes[sizeof(abi::Record)];
                std::memcpy(bytes, &changed[i], sizeof bytes);
                bytes[byte] ^= 1;
                std::memcpy(&changed[i], bytes, sizeof bytes);
            }
            CHECK(same(decode(encode(changed, 0), changed.size(), 0), changed));
        }
}

TEST_CASE("a time quantum clears the bits below it and keeps the order") {
    Random random(4);
    Records records = loop(random, 500);
    const Records decoded = decode(encode(records, 6), records.size(), 6);
    for (abi::Record& record : records) {
        record.time &= ~std::uint64_t{63};
        record.duration &= ~63u;
    }
    CHECK(same(decoded, records));
}

TEST_CASE("too little room is reported, and nothing is written beyond it") {
    Random random(5);
    std::vector<std::uint8_t> bytes(40, 0xee);
    const auto codec = std::make_unique<Codec<abi::Encoder>>(0);
    codec->coder.start(bytes.data(), 32);
    for (int i = 0; i < 4; ++i) {
        abi::Record record = random_record(random);
        codec->records.code(record);
    }
    CHECK(codec->coder.finish() > 32);
    CHECK(std::vector<std::uint8_t>(bytes.begin() + 32, bytes.end()) ==
          std::vector<std::uint8_t>(8, 0xee));
}

TEST_CASE("any bytes decode to something, and end") {
    Random random(6);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::uint8_t> bytes(random() % 600);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        CHECK(decode(bytes, 200, random() % 8).size() == 200);
    }
}
