// A stream's bytes, sound and damaged: sound frames arrive, the rest is counted.
#include "../sim/random.hpp"
#include "abi/fold.hpp"
#include "catch_2_or_3.hpp"
#include "records.hpp"
#include "stream_maker.hpp"
#include "tree/device_tree.hpp"
#include "wire/wire_decoder.hpp"

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;

struct Heard : wire::WireSink {
    std::vector<wire::StreamHead> heads;
    Records all;
    unsigned ends = 0;

    void hello(const wire::StreamHead& head) override { heads.push_back(head); }
    void records(std::span<const abi::Record> records) override {
        all.insert(all.end(), records.begin(), records.end());
    }
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override { ++ends; }
};

struct Listener {
    Heard heard;
    wire::WireDecoder decoder{heard};

    explicit Listener(std::span<const std::byte> wire) {
        decoder.feed(wire);
        decoder.finish();
    }
};

Records some_records(unsigned count, unsigned from = 0) {
    Records records;
    for (unsigned i = from; i < from + count; ++i) {
        abi::Record record = access(0, i, 1000 + 10 * i);
        record.commit = i + 1;
        records.push_back(record);
    }
    return records;
}

bool same(const Records& a, const Records& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

/// True if `part` is `whole` without some of its frames of `size` records.
bool frames_of(const Records& whole, const Records& part, std::size_t size) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < part.size(); i += size) {
        const Records frame(part.begin() + static_cast<long>(i),
                            part.begin() + static_cast<long>(std::min(i + size, part.size())));
        for (;; at += size) {
            if (at >= whole.size()) {
                return false;
            }
            const Records candidate(whole.begin() + static_cast<long>(at),
                                    whole.begin() +
                                        static_cast<long>(std::min(at + size, whole.size())));
            if (same(frame, candidate)) {
                break;
            }
        }
        at += size;
    }
    return true;
}

const std::vector<abi::StreamRegion> two_regions = {
    {0x1c09'0000, 0x1000, 0, abi::region_traced, 0, 7, 0},
    {0x1c0a'0000, 0x1000, 1, 0, 4, 3, 0},
};
constexpr char two_paths[] = "/bus@0/@1b"; // "/bus@0/" and, shared 4, "/bus" + "@1b"

constexpr unsigned frames = 12;
constexpr unsigned in_frame = 20;

Wire whole_stream() {
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    for (unsigned i = 0; i < frames; ++i) {
        maker.records(some_records(in_frame, i * in_frame));
    }
    maker.end(frames * in_frame, 0);
    return maker.wire();
}

} // namespace

TEST_CASE("a sound stream comes through whole") {
    const Listener listener(whole_stream());
    REQUIRE(listener.heard.heads.size() == 1);
    const wire::StreamHead& head = listener.heard.heads[0];
    REQUIRE(head.regions.size() == 2);
    CHECK(std::string(head.regions[0].path) == "/bus@0/");
    CHECK(std::string(head.regions[1].path) == "/bus@1b");
    CHECK(head.regions[1].reg_index == 1);
    CHECK(same(listener.heard.all, some_records(frames * in_frame)));
    CHECK(listener.heard.ends == 1);
    CHECK(listener.decoder.counts().damaged == 0);
    CHECK(listener.decoder.counts().missing == 0);
    CHECK(listener.decoder.senseless() == 0);
}

TEST_CASE("a stream in single bytes is the same stream") {
    Heard heard;
    wire::WireDecoder decoder(heard);
    for (const std::byte byte : whole_stream()) {
        decoder.feed(std::span<const std::byte>(&byte, 1));
    }
    CHECK(same(heard.all, some_records(frames * in_frame)));
}

TEST_CASE("a long description is sent in pieces, and again") {
    StreamMaker maker;
    std::vector<abi::StreamRegion> regions(100, {0x1000, 0x10, 0, 0, 0, 50, 0});
    const std::string paths(100 * 50, 'p');
    maker.hello(regions, paths);
    maker.pieces(maker.description());
    const Listener listener(maker.wire());
    REQUIRE(listener.heard.heads.size() == 1);
    CHECK(listener.heard.heads[0].regions.size() == 100);
    CHECK(listener.decoder.senseless() == 0);
}

TEST_CASE("records before their description are kept for it") {
    StreamMaker maker;
    maker.records(some_records(5));
    maker.hello(two_regions, two_paths);
    maker.records(some_records(5, 5));
    const Listener listener(maker.wire());
    CHECK(same(listener.heard.all, some_records(10)));
}

TEST_CASE("an end before the description is kept for it, unless records follow it") {
    StreamMaker maker;
    maker.records(some_records(5));
    maker.end(5, 0);
    const bool goes_on = GENERATE(false, true);
    if (goes_on) {
        maker.records(some_records(5, 5));
    }
    maker.hello(two_regions, two_paths);
    const Listener listener(maker.wire());
    CHECK(listener.heard.all.size() == (goes_on ? 10 : 5));
    CHECK(listener.heard.ends == (goes_on ? 0 : 1));
    CHECK(listener.decoder.forgotten() == 0);
}

TEST_CASE("each boot on a wire is kept until its description arrives; one without it is told of") {
    StreamMaker first(7);
    StreamMaker second(8);
    first.hello(two_regions, two_paths);
    first.records(some_records(5));
    first.end(5, 0, abi::StreamEnd::machine_reset);
    second.records(some_records(7));
    SECTION("that comes before the end") {
        second.hello(two_regions, two_paths);
        second.end(7, 0);
        Wire wire = first.wire();
        wire.insert(wire.end(), second.wire().begin(), second.wire().end());
        const Listener listener(wire);
        CHECK(listener.heard.heads.size() == 2);
        CHECK(listener.heard.all.size() == 12);
        CHECK(listener.heard.ends == 2);
        CHECK(listener.decoder.forgotten() == 0);
    }
    SECTION("that never comes") {
        StreamMaker third(9);
        third.records(some_records(3));
        Wire wire = first.wire();
        for (const StreamMaker* maker : {&second, &third}) {
            wire.insert(wire.end(), maker->wire().begin(), maker->wire().end());
        }
        const Listener listener(wire);
        CHECK(listener.heard.all.size() == 5);
        CHECK(listener.decoder.forgotten() == 10);
    }
}

TEST_CASE("a listener that joins late starts at the next frame") {
    const Wire wire = whole_stream();
    for (std::size_t from = 1; from < wire.size(); from += 37) {
        const Listener listener{std::span(wire).subspan(from)};
        CHECK(listener.decoder.counts().damaged == 0); // the rest of a frame is not damage
    }
}

TEST_CASE("whatever happens to one byte, no wrong record comes out, and the damage is reported") {
    const Wire wire = whole_stream();
    const Records sent = some_records(frames * in_frame);
    for (std::size_t at = 0; at < wire.size(); ++at) {
        for (std::size_t how = 0; how < 4; ++how) {
            if (sim::seeds(1) == 1 && how != at % 4 && how != 0) {
                continue;
            }
            Wire damaged = wire;
            const auto place = damaged.begin() + static_cast<long>(at);
            switch (how) {
            case 0: *place ^= std::byte{0x41}; break;
            case 1: damaged.erase(place); break;
            case 2: damaged.insert(place, std::byte{0x55}); break;
            default: damaged.resize(at); break;
            }
            const Listener listener(damaged);
            const Heard& heard = listener.heard;
            if (!frames_of(sent, heard.all, in_frame)) {
                FAIL("a wrong record at byte " << at << ", way " << how);
            }
            const wire::WireCounts& counts = listener.decoder.counts();
            const bool all = heard.all.size() == sent.size() && heard.ends == 1;
            if (!all && heard.ends == 1 && counts.damaged + counts.missing == 0 &&
                !heard.heads.empty()) {
                FAIL("damage at byte " << at << ", way " << how << ", is not told");
            }
        }
    }
}

TEST_CASE("a frame of another version is refused in one line") {
    const int step = GENERATE(-1, 1);
    const auto version = static_cast<std::uint8_t>(abi::wire_version + step);
    std::vector<std::uint8_t> bytes;
    StreamMaker::append(bytes,
                        abi::FrameHeader{abi::FrameType::records, version, 0x101, 0x1010101});
    StreamMaker::append(bytes, crc(std::as_bytes(std::span(bytes))));
    Wire wire{std::byte{0}, static_cast<std::byte>(bytes.size() + 1)};
    for (const std::uint8_t byte : bytes) {
        REQUIRE(byte != 0);
        wire.push_back(static_cast<std::byte>(byte));
    }
    wire.push_back(std::byte{0});
    CHECK_THROWS_WITH(Listener(wire), Catch::Contains("version " + std::to_string(version)));
}

TEST_CASE("sound frames with senseless content are counted") {
    StreamMaker maker;
    maker.frame(abi::FrameType::hello, {1, 2, 3});
    maker.frame(abi::FrameType::hello, {0, 0, 1, 0, 4, 0, 0, 0, 1, 2, 3, 4});
    maker.frame(abi::FrameType::records, {1});
    maker.frame(abi::FrameType::records, {1, 0, 99, 0, 5});
    maker.frame(abi::FrameType::end, {0, 0, 0, 0});
    const Listener listener(maker.wire());
    CHECK(listener.decoder.senseless() == 5);
    CHECK(listener.heard.all.empty());
}

TEST_CASE("records of a CPU that the boot does not have are senseless") {
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    Records records = some_records(3);
    records[1].cpu = 2;
    maker.records(records);
    const Listener listener(maker.wire());
    CHECK(listener.decoder.senseless() == 1);
    CHECK(listener.heard.all.empty());
}

TEST_CASE("a trace file made from a stream has its aliases in a tree of their own") {
    wire::StreamHead head{};
    head.aliases = {{"serial0", "/bus/serial@0"}, {"rtc", "/bus/rtc@1"}};
    CHECK(tree::aliases(wire::alias_tree(head)) == head.aliases);
}

TEST_CASE("a count of equal reads is expanded, and a count without a read is no record") {
    abi::Record read = access(0, 0, 1000);
    read.access = abi::encode_access(false, 2);
    read.commit = 1;
    abi::Record fold = read;
    fold.type = abi::RecordType::fold;
    fold.value = 3;
    fold.time = 1300;
    fold.cpu_sequence = 1;
    fold.commit = 2;
    fold.lock_sequence = read.lock_sequence + 1;
    fold.flags = abi::flag_estimated;
    const auto heard = [](const Records& records) {
        StreamMaker maker;
        maker.hello(two_regions, two_paths);
        maker.records(records);
        Listener listener(maker.wire());
        return std::pair(listener.heard.all, listener.decoder.senseless());
    };
    const auto [all, senseless] = heard({read, fold});
    REQUIRE(all.size() == 4);
    CHECK(senseless == 0);
    for (unsigned i = 0; i < 4; ++i) {
        CHECK(all[i].time == 1000 + 100 * i);
        CHECK(all[i].cpu_sequence == i);
        CHECK(((all[i].flags & abi::flag_estimated) != 0) == (i == 1 || i == 2));
    }
    CHECK(heard({fold}).second == 1);
    CHECK(heard({fold}).first.empty());
    for (const std::uint64_t count :
         {std::uint64_t{0}, std::uint64_t{abi::max_in_frame}, ~std::uint64_t{0}}) {
        fold.value = count;
        CHECK(heard({read, fold}).second == 1);
    }
}

namespace {

/// The frames of whole_stream(), each with the zero after it.
std::vector<Wire> pieces_of(const Wire& wire) {
    std::vector<Wire> pieces(1);
    for (const std::byte byte : std::span(wire).subspan(1)) {
        pieces.back().push_back(byte);
        if (byte == std::byte{0}) {
            pieces.emplace_back();
        }
    }
    pieces.pop_back();
    return pieces;
}

Wire joined(const std::vector<Wire>& pieces) {
    Wire wire{std::byte{0}};
    for (const Wire& piece : pieces) {
        wire.insert(wire.end(), piece.begin(), piece.end());
    }
    return wire;
}

/// All that was sent came through once, in order.
void check_whole(const Listener& listener, std::uint64_t repeated) {
    CHECK(same(listener.heard.all, some_records(frames * in_frame)));
    CHECK(listener.heard.heads.size() == 1);
    CHECK(listener.decoder.counts().missing == 0);
    CHECK(listener.decoder.counts().repeated == repeated);
    CHECK(listener.decoder.senseless() == 0);
    CHECK_FALSE(listener.decoder.goes_on());
}

} // namespace

TEST_CASE("a frame that arrives twice counts once, at once or later") {
    const std::vector<Wire> pieces = pieces_of(whole_stream());
    for (std::size_t which = 0; which < pieces.size(); ++which) {
        for (std::size_t later = which; later < pieces.size(); ++later) {
            CAPTURE(which, later);
            std::vector<Wire> sent = pieces;
            sent.insert(sent.begin() + static_cast<long>(later) + 1, pieces[which]);
            check_whole(Listener(joined(sent)), 1);
        }
    }
}

TEST_CASE("a boot twice, and captures that overlap, are one boot, whatever is between them") {
    const std::vector<Wire> pieces = pieces_of(whole_stream());
    const Wire noise(100, std::byte{0x5a});
    for (std::size_t end = 1; end <= pieces.size(); ++end) {
        for (std::size_t begin = 0; begin <= end; ++begin) {
            CAPTURE(begin, end);
            const auto from = pieces.begin() + static_cast<long>(begin);
            const auto to = pieces.begin() + static_cast<long>(end);
            std::vector<Wire> sent(pieces.begin(), to);
            sent.insert(sent.end(), from, pieces.end());
            check_whole(Listener(joined(sent)), end - begin);
            sent.insert(sent.begin() + static_cast<long>(end), noise);
            sent.insert(sent.begin() + static_cast<long>(end) + 1, {std::byte{0}});
            check_whole(Listener(joined(sent)), end - begin);
        }
    }
}

TEST_CASE("the later capture first: what comes too late is not put behind it") {
    const std::vector<Wire> pieces = pieces_of(whole_stream());
    for (std::size_t begin = 1; begin < pieces.size(); ++begin) {
        CAPTURE(begin);
        std::vector<Wire> sent(pieces.begin() + static_cast<long>(begin), pieces.end());
        sent.insert(sent.end(), pieces.begin(), pieces.end());
        const Listener all{joined(sent)}; // the description stands in the earlier one
        CHECK(same(all.heard.all, some_records(frames * in_frame)));
        CHECK(all.decoder.counts().missing == 0);
    }
    // With a description in both, the trace has what came first, and the rest is lost.
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    Records late = some_records(in_frame);
    late.back().cpu = 1; // the only record of CPU 1
    late.back().cpu_sequence = 0;
    maker.records(late);
    maker.pieces(maker.description());
    maker.records(some_records(in_frame, in_frame));
    std::vector<Wire> sent = pieces_of(maker.wire());
    std::rotate(sent.begin(), sent.begin() + 2, sent.end());
    const Listener listener{joined(sent)};
    CHECK(same(listener.heard.all, some_records(in_frame, in_frame)));
    CHECK(listener.decoder.counts().missing == 0);
    CHECK(listener.decoder.counts().repeated == 2);
}

TEST_CASE("behind an end, the records that it counts come too late: they are lost") {
    const std::vector<Wire> pieces = pieces_of(whole_stream());
    for (std::size_t end = 1; end < pieces.size() - 1; ++end) {
        CAPTURE(end);
        std::vector<Wire> sent = pieces;
        std::rotate(sent.begin() + static_cast<long>(end), sent.end() - 1, sent.end());
        const Listener listener{joined(sent)};
        CHECK(listener.heard.all.size() == (end - 1) * in_frame);
        CHECK(listener.heard.ends == 1);
        CHECK(listener.decoder.counts().repeated == pieces.size() - 1 - end);
    }
}

TEST_CASE("an earlier boot that arrives again after the next one begins no third") {
    const Wire first = whole_stream();
    StreamMaker second(8);
    second.hello(two_regions, two_paths);
    second.records(some_records(5));
    Wire wire = first;
    wire.insert(wire.end(), second.wire().begin(), second.wire().end());
    wire.insert(wire.end(), first.begin(), first.end());
    const Listener listener(wire);
    CHECK(listener.heard.heads.size() == 2);
    CHECK(listener.heard.all.size() == frames * in_frame + 5);
    CHECK(listener.decoder.counts().repeated == frames + 2);
    CHECK(listener.decoder.counts().missing == 0);
}

TEST_CASE("behind a hole of most frame numbers, new records are new") {
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    maker.records(some_records(5));
    std::vector<Wire> sent = pieces_of(maker.wire());
    for (unsigned i = 0; i < 40'000; ++i) {
        maker.frame(abi::FrameType::end, {});
    }
    const std::size_t before = maker.wire().size();
    maker.records(some_records(5, 100));
    sent.emplace_back(maker.wire().begin() + static_cast<long>(before), maker.wire().end());
    const Listener listener{joined(sent)};
    CHECK(listener.heard.all.size() == 10);
    CHECK(listener.decoder.counts().missing == 40'000);
    CHECK(listener.decoder.counts().repeated == 0);
}

TEST_CASE("a late frame with records of another CPU is not 65,535 missing ones") {
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    for (std::uint32_t i = 0; i < 4; ++i) {
        Records records = some_records(5, 5 * i);
        if (i < 2) {
            records.push_back(access(1, i, 1000 + 100 * i));
        }
        maker.records(records);
    }
    std::vector<Wire> sent = pieces_of(maker.wire());
    REQUIRE(sent.size() == 5);
    std::swap(sent[2], sent[3]);
    const Listener listener{joined(sent)};
    CHECK(listener.heard.all.size() == 17); // those of CPU 0 in the late one are too late
    CHECK(listener.decoder.counts().missing == 0);
    CHECK(listener.decoder.counts().repeated == 0);
}

TEST_CASE("a cut at any byte behind an end shows that it was none") {
    const auto reason = GENERATE(abi::StreamEnd::halted, abi::StreamEnd::machine_off,
                                 abi::StreamEnd::machine_reset);
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    maker.records(some_records(5));
    maker.end(5, 0, reason);
    const std::size_t ended = maker.wire().size();
    maker.records(some_records(5, 5));
    const std::size_t went_on = maker.wire().size();
    maker.end(10, 0, reason);
    for (std::size_t cut = ended; cut <= maker.wire().size(); ++cut) {
        CAPTURE(cut);
        const Listener listener(std::span(maker.wire()).first(cut));
        const bool over = listener.heard.ends == 2 || cut == ended;
        CHECK(listener.decoder.goes_on() == (cut > ended && cut < went_on - 1));
        CHECK((over || cut > ended));
    }
    // A frame that is lost as a whole: the number of the next one, which says nothing, tells.
    StreamMaker other;
    other.hello(two_regions, two_paths);
    other.end(0, 0, reason);
    std::vector<Wire> sent = pieces_of(other.wire());
    const std::size_t before = other.wire().size();
    other.records(some_records(5));
    const std::size_t lost = other.wire().size();
    other.pieces(other.description());
    sent.emplace_back(other.wire().begin() + static_cast<long>(lost), other.wire().end());
    CHECK(before < lost);
    CHECK(Listener(joined(sent)).decoder.goes_on());
}

TEST_CASE("what a boot loader writes behind an end is no part of the boot") {
    StreamMaker maker;
    maker.hello(two_regions, two_paths);
    maker.end(0, 0, abi::StreamEnd::machine_reset);
    Wire wire = maker.wire();
    std::ranges::transform(std::string("\r\nU-Boot SPL 2023.01\r\n"), std::back_inserter(wire),
                           [](char c) { return static_cast<std::byte>(c); });
    const Listener listener(wire);
    CHECK_FALSE(listener.decoder.goes_on());
    CHECK(listener.decoder.counts().damaged == 1);
}

TEST_CASE("a frame has no more records than its limit, folded or not") {
    abi::Record read = access(0, 0, 1000);
    read.access = abi::encode_access(false, 2);
    abi::Record fold = read;
    fold.type = abi::RecordType::fold;
    fold.cpu_sequence = 1;
    fold.value = abi::max_in_frame - 1;
    const auto heard = [&](Records records) {
        StreamMaker maker;
        maker.hello(two_regions, two_paths);
        maker.records(records);
        Listener listener(maker.wire());
        return std::pair(listener.heard.all.size(), listener.decoder.senseless());
    };
    CHECK(heard({read, fold}) == std::pair(std::size_t{abi::max_in_frame}, std::uint64_t{0}));
    read.cpu_sequence = abi::max_in_frame;
    CHECK(heard({access(0, 0, 1000), fold, read}) == std::pair(std::size_t{0}, std::uint64_t{1}));
    abi::Record more = fold; // 2^16 records and more: no sum of them may wrap
    more.cpu_sequence = abi::max_in_frame + 1;
    for (const std::uint64_t count : {std::uint64_t{8'000'000}, std::uint64_t{1} << 32}) {
        more.value = count;
        CHECK(heard({access(0, 0, 1000), fold, read, more}) ==
              std::pair(std::size_t{0}, std::uint64_t{1}));
    }
}
