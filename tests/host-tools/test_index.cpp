// The index of a trace file: finds a range of time without reading the rest.
#include "file/index.hpp"
#include "reading_all.hpp"
#include "system/crc.hpp"

#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::TimeSpan;

namespace {

/// Without the index and the end, as left by a writer that was killed.
Bytes cut_before_index(Bytes bytes) {
    const auto all = headers(bytes);
    REQUIRE(all[all.size() - 2].second.type == abi::SectionType::index);
    bytes.resize(all[all.size() - 2].first);
    return bytes;
}

/// The same file as written by version 1.1.
Bytes without_index(const Bytes& whole) {
    Bytes bytes = cut_before_index(whole);
    abi::SectionHeader header = headers(whole).back().second;
    const std::span end = std::span(whole).last(sizeof(abi::End)).first(abi::first_end_size);
    header.size = end.size();
    header.crc = crc(end);
    header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
    const std::span head = std::as_bytes(std::span(&header, 1));
    bytes.insert(bytes.end(), head.begin(), head.end());
    bytes.insert(bytes.end(), end.begin(), end.end());
    return bytes;
}

/// With changes in the index, and the right checksum.
Bytes with_index(Bytes bytes, const std::function<void(abi::IndexEntry*, std::size_t)>& change) {
    const auto all = headers(bytes);
    auto [at, header] = all[all.size() - 2];
    std::byte* const payload = bytes.data() + at + sizeof header;
    const std::size_t count = (header.size - sizeof(abi::IndexHeader)) / sizeof(abi::IndexEntry);
    std::vector<abi::IndexEntry> entries(count);
    std::memcpy(entries.data(), payload + sizeof(abi::IndexHeader), count * sizeof entries[0]);
    change(entries.data(), count);
    std::memcpy(payload + sizeof(abi::IndexHeader), entries.data(), count * sizeof entries[0]);
    header.crc = crc(std::span(payload, header.size));
    header.header_crc = crc_before(header, offsetof(abi::SectionHeader, header_crc));
    std::memcpy(bytes.data() + at, &header, sizeof header);
    return bytes;
}

ReadAll read(const Bytes& bytes, std::optional<TimeSpan> times = {}, bool seeks = true) {
    MemorySource source(bytes);
    Watched watched(source, seeks);
    return ReadAll(watched, times);
}

} // namespace

TEST_CASE("an index has the start and the times of each stretch") {
    const Bytes bytes = long_trace(40, 1000);
    const ReadAll all = read(bytes);
    REQUIRE(all.sound);
    MemorySource source(bytes);
    const std::optional<trace::FileIndex> index = trace::read_index(source);
    REQUIRE(index);
    CHECK(index->entries.size() >= 20);
    const auto sections = headers(bytes);
    std::size_t entry = 0;
    std::uint64_t records = 0;
    TimeSpan times;
    std::uint32_t types = 0;
    for (const auto& [at, header] : sections) {
        const bool begins = entry < index->entries.size() && at == index->entries[entry].offset;
        if (begins || at == index->end) {
            if (entry > 0) {
                CHECK(index->entries[entry - 1].earliest == times.earliest);
                CHECK(index->entries[entry - 1].latest == times.latest);
                CHECK(index->entries[entry - 1].types == types);
            }
            times = {};
            types = 0;
        }
        if (begins) {
            CHECK(index->entries[entry].records_before == records);
            ++entry;
        }
        types |= abi::index_type_bit(header.type);
        for (std::size_t n = 0; header.type == abi::SectionType::records && n < header.size / 64;
             ++n) {
            times.add(all.records[records++].time);
        }
    }
    CHECK(entry == index->entries.size());
    CHECK(records == all.records.size());
    CHECK(sections[sections.size() - 2].first == index->end);
}

TEST_CASE("a range of time has the same records as in the whole trace, however it is read") {
    const Bytes whole = long_trace(30, 300);
    const Bytes cut = cut_before_index(whole);
    const Bytes old = without_index(whole);
    const ReadAll all = read(whole);
    REQUIRE(read(old).sound);
    std::mt19937 random(1);
    for (int n = 0; n < 60; ++n) {
        const std::uint64_t from = random() % 100'000;
        const TimeSpan times{from, from + random() % (n % 2 == 0 ? 200 : 40'000)};
        const std::vector<std::uint64_t> expected = all.times_in(times);
        for (const Bytes* bytes : {&whole, &cut, &old}) {
            for (const bool seeks : {true, false}) {
                const ReadAll part = read(*bytes, times, seeks);
                REQUIRE(part.times_in(times) == expected);
                REQUIRE(part.problems.empty());
                REQUIRE(part.losses == 1);
                REQUIRE(part.statistics == 2);
                REQUIRE(part.text.at("middle") == "yes");
                REQUIRE(part.text.at("behind") == "yes");
                REQUIRE(part.end.has_value() == (bytes != &cut));
                REQUIRE(part.sound == (bytes != &cut));
            }
        }
    }
}

TEST_CASE("a trace that lacks a section of records is not sound, although each byte of it is") {
    Bytes bytes = long_trace(3, 4);
    const auto sections = headers(bytes);
    const auto second = std::find_if(sections.begin() + 4, sections.end(), [](const auto& one) {
        return one.second.type == abi::SectionType::records;
    });
    REQUIRE(second != sections.end());
    const auto begin = bytes.begin() + std::ptrdiff_t(second->first);
    bytes.erase(begin, begin + std::ptrdiff_t(sizeof(abi::SectionHeader) + second->second.size));
    const ReadAll part = read(bytes);
    CHECK(part.problems.empty());
    CHECK(part.records.size() == 8);
    CHECK(!part.sound);
}

TEST_CASE("reading a range of time reads little more than its own records") {
    const Bytes whole = long_trace(200, 1024);
    const TimeSpan times{1'000'000, 1'000'100};
    MemorySource source(whole);
    Watched watched(source);
    const ReadAll part(watched, times);
    CHECK(part.records.size() >= 10);
    // The head with the first records, the wanted stretch, the middle and the tail.
    CHECK(watched.count() < whole.size() / 20);
    CHECK(watched.count() < 7u * (64 * 1024 + 200));
    MemorySource again(whole);
    Watched all(again);
    CHECK(ReadAll(all).sound);
    CHECK(all.count() == whole.size());
}

TEST_CASE("a range of a file that is cut anywhere has every whole record of it") {
    const Bytes whole = long_trace(3, 4);
    const TimeSpan times{1030, 1070};
    for (std::size_t size = sizeof(abi::FileHeader); size <= whole.size(); ++size) {
        const Bytes bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size));
        const ReadAll part = read(bytes, times);
        REQUIRE(part.times_in(times) == read(bytes).times_in(times));
        REQUIRE(part.sound == (size == whole.size()));
    }
}

TEST_CASE("a flipped byte costs a range at most one section, and makes no record wrong") {
    const Bytes whole = long_trace(3, 4);
    const TimeSpan times{1030, 1070};
    const std::size_t expected = read(whole).times_in(times).size();
    for (std::size_t at = sizeof(abi::FileHeader); at < whole.size(); ++at) {
        for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
            Bytes bytes = whole;
            bytes[at] ^= std::byte(mask);
            const ReadAll part = read(bytes, times); // checks each record
            REQUIRE(part.times_in(times).size() + 4 >= expected);
            REQUIRE((part.times_in(times).size() == expected || !part.problems.empty()));
        }
    }
}

TEST_CASE("an invalid index is not used") {
    const Bytes whole = long_trace(40, 1000);
    const TimeSpan times{200'000, 200'500};
    const auto expected = read(whole).times_in(times);
    REQUIRE(expected.size() > 20);
    const auto read_with = [&](const std::function<void(abi::IndexEntry*, std::size_t)>& change) {
        return read(with_index(whole, change), times);
    };
    // Unsorted, before the sections, after the end: detected, and the whole file is read.
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1} << 40, UINT64_MAX}) {
        for (const std::size_t entry : {0u, 5u}) {
            const ReadAll part = read_with(
                [&](abi::IndexEntry* entries, std::size_t) { entries[entry].offset = offset; });
            CHECK(part.times_in(times) == expected);
            CHECK(part.problems.empty());
        }
    }
    // Between two sections: reported as damage.
    const ReadAll astray = read_with([](abi::IndexEntry* entries, std::size_t count) {
        for (std::size_t n = 1; n < count; ++n) {
            entries[n].offset += 8;
        }
    });
    CHECK(!astray.problems.empty());
}

TEST_CASE("an index stays small, however long the file") {
    trace::IndexBuilder builder;
    constexpr std::uint64_t sections = 100'000;
    constexpr std::uint64_t size = 100'000;
    for (std::uint64_t n = 0; n < sections; ++n) {
        builder.add(abi::SectionType::records, 32 + n * size, {10, {n, n}});
    }
    const auto entries = builder.entries();
    CHECK(entries.size() <= trace::max_index_entries);
    CHECK(entries.size() >= trace::max_index_entries / 4);
    CHECK(entries.size_bytes() < 1 << 20);
    CHECK(entries.front().offset == 32);
    CHECK(entries.front().earliest == 0);
    CHECK(entries.back().latest == sections - 1);
    for (std::size_t n = 1; n < entries.size(); ++n) {
        REQUIRE(entries[n].earliest == entries[n - 1].latest + 1);
        REQUIRE(entries[n].offset == 32 + entries[n].earliest * size);
        REQUIRE(entries[n].records_before == entries[n].earliest * 10);
    }
}
