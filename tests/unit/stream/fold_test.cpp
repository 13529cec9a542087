// Equal reads become a count; a reader restores the records, except for times marked as estimates.
#include "abi/fold.hpp"
#include "catch_2_or_3.hpp"
#include "sim/random.hpp"
#include "stream/record_frame.hpp"

#include <cstring>
#include <memory>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::Fold;

namespace {

using Records = std::vector<abi::Record>;

/// Two CPUs that poll, with other accesses in between; `jitter`: the most ticks that a poll is
/// late.
Records polls(std::uint64_t seed, unsigned jitter) {
    Random random{seed};
    Records records;
    std::uint32_t sequence[2]{}, lock[3]{};
    std::uint64_t time = 1000;
    while (records.size() < 3000) {
        abi::Record r{};
        r.type = abi::RecordType::access;
        r.cpu = static_cast<std::uint8_t>(random.below(2));
        r.device = static_cast<std::uint16_t>(random.below(3));
        r.access = abi::encode_access(random.below(4) == 0, 2);
        r.value = random.below(3);
        r.pc = 0x8000 + 4 * r.device;
        for (unsigned n = 1 + random.below(30); n > 0; --n) {
            r.time = time += 64 + (jitter != 0 ? random.below(jitter) : 0);
            r.duration = 5;
            r.cpu_sequence = sequence[r.cpu]++;
            r.commit = r.cpu_sequence + 1;
            r.lock_sequence = lock[r.device]++;
            records.push_back(r);
        }
    }
    return records;
}

struct Sent {
    Records records;
    std::size_t bytes{};
    std::size_t coded{};
};

/// Sends them over the wire and decodes them.
Sent there_and_back(const Records& records, Fold how, unsigned shift) {
    Sent sent;
    std::vector<std::uint8_t> bytes(abi::max_frame);
    RecordFrame frame;
    frame.fold(how, shift);
    const auto receive = [&] {
        const std::size_t size = frame.close();
        abi::RecordsHeader header;
        constexpr std::size_t at = sizeof(abi::FrameHeader);
        std::memcpy(&header, bytes.data() + at, sizeof header);
        const auto model = std::make_unique<abi::RecordModel>();
        abi::Decoder decoder;
        decoder.start(bytes.data() + at + sizeof header, size - at - sizeof header);
        abi::RecordCodec<abi::Decoder> codec(decoder, *model, shift);
        for (unsigned n = 0; n < header.count; ++n) {
            abi::Record r{};
            codec.code(r);
            if (r.type != abi::RecordType::fold) {
                sent.records.push_back(r);
                continue;
            }
            REQUIRE(!sent.records.empty());
            const abi::Record before = sent.records.back();
            for (std::uint32_t i = 1; i <= r.value; ++i)
                sent.records.push_back(unfolded(before, r, i));
        }
        sent.bytes += size;
        sent.coded += header.count;
    };
    for (abi::Record r : records) {
        if (!frame.is_open()) frame.open(bytes.data(), {}, shift);
        if (!frame.add(r)) receive();
    }
    if (frame.is_open()) receive();
    return sent;
}

bool same(const abi::Record& a, const abi::Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

TEST_CASE("folding in equal steps is undone exactly") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Records records = polls(seed, seed % 2 != 0 ? 0 : 40);
        const Sent plain = there_and_back(records, Fold::off, 0);
        const Sent folded = there_and_back(records, Fold::steps, 0);
        REQUIRE(plain.records.size() == records.size());
        REQUIRE(folded.records.size() == records.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            REQUIRE(same(plain.records[i], records[i]));
            REQUIRE(same(folded.records[i], records[i]));
        }
        CHECK(plain.coded == records.size());
        if (seed % 2 != 0) CHECK(folded.coded < plain.coded / 2);
    }
}

TEST_CASE("folded polls keep everything except the times between the first and the last") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const unsigned shift = seed % 3 == 0 ? 4 : 0;
        const Records records = polls(seed, 40);
        const Sent plain = there_and_back(records, Fold::off, shift);
        const Sent folded = there_and_back(records, Fold::polls, shift);
        CHECK(folded.coded < plain.coded / 2);
        CHECK(folded.bytes < plain.bytes);
        REQUIRE(folded.records.size() == records.size());
        std::size_t estimated = 0;
        for (std::size_t i = 0; i < records.size(); ++i) {
            abi::Record r = folded.records[i];
            if (i > 0) REQUIRE(r.time >= folded.records[i - 1].time);
            if ((r.flags & abi::flag_estimated) != 0) {
                ++estimated;
                r.flags &= static_cast<std::uint8_t>(~abi::flag_estimated);
                r.time = plain.records[i].time;
                r.duration = plain.records[i].duration;
            }
            REQUIRE(same(r, plain.records[i]));
        }
        CHECK(estimated > 0);
        CHECK(estimated < records.size() - folded.coded / 2);
    }
}

TEST_CASE("a frame holds no more folded records than it can count") {
    abi::Record r{};
    r.type = abi::RecordType::access;
    std::vector<std::uint8_t> bytes(abi::max_frame);
    RecordFrame frame;
    frame.fold(Fold::polls, 0);
    frame.open(bytes.data(), {}, 0);
    std::uint32_t count = 0;
    for (bool more = true; more; ++count) {
        r.time += 10;
        r.cpu_sequence = r.lock_sequence = count;
        r.commit = count + 1;
        more = frame.add(r);
    }
    CHECK(count == abi::max_in_frame);
    CHECK(frame.count() == 1);
    (void)frame.close();
    CHECK(frame.count() == 2);
}

TEST_CASE("a frame has room for what a guest makes as long as it can, behind a count") {
    Random random{7};
    std::vector<std::uint8_t> bytes(abi::max_frame);
    std::size_t most = 0;
    for (int round = 0; round < 40; ++round) {
        RecordFrame frame;
        frame.fold(Fold::polls, 0);
        frame.open(bytes.data(), {}, 0);
        abi::Record r{};
        for (bool more = true; more;) {
            r.type = abi::RecordType::access;
            r.access = abi::encode_access(false, 2);
            r.device = static_cast<std::uint16_t>(random.below(200));
            for (std::uint32_t* word : {&r.pa_low, &r.va, &r.pc, &r.lr, &r.sp, &r.task})
                *word = static_cast<std::uint32_t>(random.next());
            r.value = random.next();
            for (unsigned reads = 2; more && reads > 0; --reads) {
                r.time += random.next() >> 4;
                ++r.cpu_sequence, ++r.commit, ++r.lock_sequence;
                more = frame.add(r);
            }
        }
        most = std::max(most, frame.close());
    }
    CHECK(most > 3900);
    CHECK(most <= abi::max_frame - sizeof(std::uint32_t));
}
