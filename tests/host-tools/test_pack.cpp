// Packed records: every bit comes back, only the requested columns are unpacked, and damage is
// reported.
#include "file/packer.hpp"
#include "records.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <cstring>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::Caller;
using trace::Column;
using trace::column_count;
using trace::ColumnSet;

namespace {

using Records = std::vector<abi::Record>;
using Callers = std::vector<Caller>;
using Bytes = std::vector<std::byte>;

/// The same numbers on every machine, unlike the library's distributions.
class Random {
public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}
    std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

private:
    std::mt19937 engine_;
};

abi::Record any_bits(Random& random) {
    std::array<std::uint32_t, 16> words;
    std::ranges::generate(words, std::ref(random));
    abi::Record record;
    std::memcpy(&record, words.data(), sizeof record);
    return record;
}

/// Records like one of `kinds`, except for `changes` random bits in random words.
Records records_like(Random& random, std::size_t count, std::size_t kinds, unsigned changes) {
    Records some;
    for (std::size_t i = 0; i < kinds; ++i) {
        some.push_back(any_bits(random));
    }
    Records records;
    for (std::size_t i = 0; i < count; ++i) {
        std::array<std::uint32_t, 16> words;
        std::memcpy(words.data(), &some[random() % kinds], sizeof words);
        for (unsigned change = 0; change < changes; ++change) {
            words[random() % 16] ^= 1u << random() % 32;
        }
        std::memcpy(&records.emplace_back(), words.data(), sizeof words);
    }
    return records;
}

/// A driver: a loop that reads a FIFO, and sometimes an interrupt on the other CPU.
Records driver_like(Random& random, std::size_t count) {
    Records records;
    std::array<std::uint32_t, 2> sequence{};
    std::array<std::uint32_t, 2> lock{};
    std::uint64_t time = 8'566'530;
    std::uint32_t lr = 0xbf00'fb7c;
    for (std::size_t i = 0; i < count; ++i) {
        const bool interrupt = random() % 50 == 0;
        const unsigned cpu = interrupt ? 1 : 0;
        abi::Record record = access(cpu, sequence[cpu]++, time);
        record.device = interrupt ? 32 : 12;
        record.lock_sequence = lock[cpu]++;
        record.commit = record.cpu_sequence + 1;
        record.duration = 1'180 + random() % 64;
        time += 2'519 + random() % 64;
        record.pc = interrupt ? 0xc08f'70b0 : 0xc0e1'aa08 + 4 * (record.cpu_sequence % 4);
        record.pa_low = interrupt ? 0x2c00'2010 : 0x1c05'0080;
        record.va = record.pa_low + 0xc400'0000;
        record.value = interrupt ? 0x2a : random();
        record.lr = interrupt ? 0xc04c'b63c : lr;
        if (i % 4 == 3) {
            lr = static_cast<std::uint32_t>(record.value);
        }
        record.sp = interrupt ? 0xc160'1ed0 : 0xc160'1e40;
        record.task = 0xc161'0680;
        records.push_back(record);
    }
    return records;
}

Callers callers_for(Random& random, const Records& records) {
    Callers callers;
    for (std::size_t i = 0; i < records.size(); ++i) {
        callers.push_back(random() % 2 == 0 ? trace::lr_holds : Caller(random() % 8 * 0x1111));
    }
    return callers;
}

bool same(std::span<const abi::Record> left, std::span<const abi::Record> right) {
    return left.size() == right.size() &&
           std::memcmp(left.data(), right.data(), left.size_bytes()) == 0;
}

Bytes packed(const Records& records, const Callers& callers = {}) {
    trace::Packer packer;
    const auto bytes = packer.pack(records, callers);
    return {bytes.begin(), bytes.end()};
}

void expect_back(trace::Packer& packer, trace::Unpacker& unpacker, const Records& records,
                 const Callers& callers) {
    unpacker.open(packer.pack(records, callers));
    REQUIRE(same(unpacker.decode(ColumnSet::all()), records));
    const bool any = std::ranges::count(callers, trace::lr_holds) < std::ssize(callers);
    REQUIRE(std::ranges::equal(unpacker.callers(), any ? callers : Callers()));
    REQUIRE(unpacker.times().earliest == trace::extent_of(records).times.earliest);
    REQUIRE(unpacker.times().latest == trace::extent_of(records).times.latest);
}

/// `record` with only the words of these columns.
abi::Record only(const abi::Record& record, ColumnSet columns) {
    abi::Record some{};
    if (columns.has(Column::site)) {
        some.type = record.type, some.cpu = record.cpu, some.access = record.access;
        some.mode = record.mode, some.device = record.device, some.flags = record.flags;
        some.pa_high = record.pa_high, some.pa_low = record.pa_low;
        some.pc = record.pc, some.va = record.va;
    }
    if (columns.has(Column::time)) {
        some.time = record.time, some.duration = record.duration;
    }
    if (columns.has(Column::value)) {
        some.value = record.value;
    }
    if (columns.has(Column::frame)) {
        some.sp = record.sp, some.task = record.task;
    }
    if (columns.has(Column::lr)) {
        some.lr = record.lr;
    }
    if (columns.has(Column::sequence)) {
        some.commit = record.commit, some.lock_sequence = record.lock_sequence;
        some.cpu_sequence = record.cpu_sequence;
    }
    return some;
}

ColumnSet columns_of(unsigned bits) {
    ColumnSet columns;
    for (unsigned i = 0; i < column_count; ++i) {
        columns = (bits >> i & 1) != 0 ? columns | static_cast<Column>(i) : columns;
    }
    return columns;
}

template <typename Value>
Value value_at(const Bytes& bytes, std::size_t at) {
    Value value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <typename Value>
void put_at(Bytes& bytes, std::size_t at, const Value& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The contents of the columns, and a block of such contents.
using Contents = std::array<Bytes, column_count>;

Contents contents_of(const Bytes& block) {
    const auto header = value_at<trace::BlockHeader>(block, 0);
    std::span<const std::byte> rest = std::span(block).subspan(sizeof header);
    Contents contents;
    for (std::size_t i = 0; i < column_count; ++i) {
        const auto frame = rest.first(header.sizes[i]);
        rest = rest.subspan(frame.size());
        contents[i].resize(zstd_size(frame));
        REQUIRE((frame.empty() || expand_zstd(frame, contents[i])));
    }
    CHECK(rest.empty());
    return contents;
}

Bytes block_of(trace::BlockHeader header, const Contents& contents) {
    Bytes block(sizeof header);
    for (std::size_t i = 0; i < column_count; ++i) {
        Bytes frame(ZSTD_compressBound(contents[i].size()));
        frame.resize(contents[i].empty()
                         ? 0
                         : ZSTD_compress(frame.data(), frame.size(), contents[i].data(),
                                         contents[i].size(), 1));
        header.sizes[i] = static_cast<std::uint32_t>(frame.size());
        block.insert(block.end(), frame.begin(), frame.end());
    }
    put_at(block, 0, header);
    return block;
}

/// The unpacked records; nothing if unpacking gives one line of error.
std::optional<Records> unpacked(const Bytes& block, ColumnSet columns = ColumnSet::all()) try {
    trace::Unpacker unpacker;
    unpacker.open(block);
    const auto records = unpacker.decode(columns);
    return Records(records.begin(), records.end());
} catch (const Error& error) {
    REQUIRE(error.status() == Status::bad_input);
    REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    return std::nullopt;
}

} // namespace

TEST_CASE("any records come back from a block bit by bit, with their callers") {
    Random random(1);
    trace::Packer packer; // one block must not influence the next
    trace::Unpacker unpacker;
    for (const std::size_t count : {1, 2, 7, 255, 256, 257, 1000, 4096}) {
        for (const std::size_t kinds : {1, 3, 300, 5000}) {
            for (const unsigned changes : {0, 1, 8}) {
                const Records records = records_like(random, count, kinds, changes);
                expect_back(packer, unpacker, records, callers_for(random, records));
                expect_back(packer, unpacker, records, {});
            }
        }
        const Records records = driver_like(random, count);
        expect_back(packer, unpacker, records, callers_for(random, records));
        expect_back(packer, unpacker, records, Callers(count));
        expect_back(packer, unpacker, Records(count), Callers(count, Caller(0)));
        Records ones(count);
        std::memset(static_cast<void*>(ones.data()), 0xff, count * sizeof ones[0]);
        expect_back(packer, unpacker, ones, {});
    }
}

TEST_CASE("decoding a block decodes only the requested columns, the others on demand") {
    Random random(2);
    for (const Records& records : {driver_like(random, 700), records_like(random, 700, 300, 2)}) {
        const Callers callers = callers_for(random, records);
        const Bytes block = packed(records, callers);
        trace::Unpacker unpacker;
        for (unsigned bits = 0; bits < 1u << column_count; ++bits) {
            const ColumnSet wanted = columns_of(bits);
            unpacker.open(block);
            const auto got = unpacker.decode(wanted);
            REQUIRE(got.size() == records.size());
            for (std::size_t i = 0; i < records.size(); ++i) {
                const abi::Record has = only(got[i], wanted);
                abi::Record expected = records[i];
                if (expected.type == abi::RecordType::payload && !wanted.has(Column::payload)) {
                    std::fill_n(abi::bytes_of(expected), abi::piece_bytes, std::uint8_t{0});
                }
                expected = only(expected, wanted);
                REQUIRE(std::memcmp(&has, &expected, sizeof has) == 0);
            }
            CHECK(unpacker.callers().empty() !=
                  (wanted.has(Column::caller) || wanted.has(Column::payload)));
            REQUIRE(same(unpacker.decode(columns_of(random())), unpacker.records()));
            REQUIRE(same(unpacker.decode(ColumnSet::all()), records));
            REQUIRE(std::ranges::equal(unpacker.callers(), callers));
        }
    }
}

TEST_CASE("the bytes of payloads are a column of their own") {
    Random random(7);
    Records records;
    for (std::uint32_t i = 0; i < 300; ++i) {
        const Records some = group(access(0, 5 * i, 100 * i), 100);
        records.insert(records.end(), some.begin(), some.end());
    }
    const auto columns = [](const Bytes& block) {
        const auto sizes = value_at<trace::BlockHeader>(block, 0).sizes;
        return std::vector<std::uint32_t>(sizes.begin(), sizes.end());
    };
    std::vector<std::uint32_t> before = columns(packed(records));
    for (abi::Record& record : records) {
        for (unsigned i = 0; record.type == abi::RecordType::payload && i < abi::piece_bytes; ++i) {
            abi::bytes_of(record)[i] = static_cast<std::uint8_t>(random());
        }
    }
    std::vector<std::uint32_t> after = columns(packed(records));
    CHECK(after.back() > before.back());
    before.pop_back(), after.pop_back();
    CHECK(after == before);
    CHECK(same(*unpacked(packed(records)), records));
}

TEST_CASE("a column that is not requested is not read") {
    Random random(3);
    const Records records = driver_like(random, 500);
    const Bytes whole = packed(records, callers_for(random, records));
    const auto header = value_at<trace::BlockHeader>(whole, 0);
    std::size_t at = sizeof header;
    for (unsigned damaged = 0; damaged < column_count - 1; ++damaged) { // it has no payloads
        Bytes block = whole;
        block[at] ^= std::byte{1};
        at += header.sizes[damaged];
        for (unsigned asked = 0; asked < column_count - 1; ++asked) {
            const auto column = static_cast<Column>(asked);
            const auto bad = static_cast<Column>(damaged);
            const bool through_site =
                bad == Column::site &&
                (column == Column::value || column == Column::lr || column == Column::sequence);
            const bool needs =
                column == bad || through_site || (column == Column::lr && bad == Column::value);
            CAPTURE(damaged, asked);
            CHECK(unpacked(block, column).has_value() != needs);
        }
    }
    CHECK(at == whole.size());
}

TEST_CASE("a deliberately wrong block gives records or one line") {
    Random random(5);
    unsigned gone = 0, read = 0;
    for (const Records& records : {driver_like(random, 300), records_like(random, 40, 40, 0)}) {
        const Bytes whole = packed(records, callers_for(random, records));
        const auto header = value_at<trace::BlockHeader>(whole, 0);
        for (unsigned i = 0; i < 6000; ++i) {
            Contents contents = contents_of(whole);
            for (unsigned change = 0; change <= random() % 3; ++change) {
                Bytes& column = contents[random() % (column_count - 1)];
                column[random() % column.size()] = std::byte(random());
            }
            Bytes block = block_of(header, contents);
            if (random() % 4 == 0) {
                block[random() % block.size()] = std::byte(random());
            }
            const auto result = unpacked(block);
            REQUIRE((!result || (!result->empty() && result->size() <= trace::most_records)));
            ++(result ? read : gone);
        }
    }
    CHECK(gone > 1000); // both occur
    CHECK(read > 1000);
}

TEST_CASE("an invalid block says what is wrong") {
    Random random(6);
    const Bytes whole = packed(driver_like(random, 300));
    const auto header = value_at<trace::BlockHeader>(whole, 0);
    const auto problem_of = [](const Bytes& block) {
        trace::Unpacker unpacker;
        try {
            unpacker.open(block);
            unpacker.decode(ColumnSet::all());
            return std::string();
        } catch (const Error& error) {
            return std::string(error.what());
        }
    };
    const auto with_count = [&](std::uint32_t count) {
        trace::BlockHeader other = header;
        other.count = count;
        return problem_of(block_of(other, contents_of(whole)));
    };
    const auto with_byte = [&](std::size_t at, unsigned value) { // of the sites
        Contents contents = contents_of(whole);
        contents[0][at] = std::byte(value);
        return problem_of(block_of(header, contents));
    };
    const std::string senseless = "its header makes no sense";
    CHECK(with_count(300).empty());
    CHECK(with_count(0) == senseless);
    CHECK(with_count(4097) == senseless);
    CHECK(problem_of(Bytes(whole.begin(), whole.begin() + 20)) == senseless);
    CHECK(with_count(350) == "a column ends within its numbers");
    // The first array of the first column has the number of its entries, in one byte.
    REQUIRE(contents_of(whole)[0][0] == std::byte{1});
    const unsigned sites = std::to_integer<unsigned>(contents_of(whole)[0][1]);
    CHECK(with_byte(1, 0) == "a column has 0 entries for 300 records");
    CHECK(with_byte(1, sites - 1).starts_with("a column has "));
    CHECK(with_byte(0, 9) == "a column has numbers of 9 bytes");
    CHECK(problem_of(Bytes(whole.begin(), whole.end() - 1)) == "it ends within column 5");
    Contents large = contents_of(whole);
    large[0].resize(64 * trace::most_records + 1);
    CHECK(problem_of(block_of(header, large)) == "column 0 is damaged");
    Bytes frameless = whole;
    frameless[sizeof header] ^= std::byte{1};
    CHECK(problem_of(frameless) == "column 0 is damaged");
}

// The bounds are the sizes when this was written, and a little more.
TEST_CASE("packed records take a few bytes each") {
    Random random(7);
    const Records records = driver_like(random, 4096);
    const double size = static_cast<double>(packed(records).size()) / 4096;
    CHECK(size < 6.0);
    Records quiet = records; // without data from a card
    for (abi::Record& record : quiet) {
        record.value = 0x90;
        record.lr = 0xc175'd720;
    }
    CHECK(static_cast<double>(packed(quiet).size()) / 4096 < 1.9);
}
