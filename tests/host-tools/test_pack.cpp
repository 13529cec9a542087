// Packed records: every bit comes back, only the requested columns are unpacked, and damage is
// reported.
#include "file/packer.hpp"
#include "file/unpacker.hpp"
#include "records.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using trace::Caller;
using trace::Column;
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

/// Of a block without payloads.
constexpr std::size_t column_count = trace::columns_of(trace::block_version);

ColumnSet columns_of(unsigned bits) {
    ColumnSet columns;
    for (unsigned i = 0; i < trace::column_count; ++i) {
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

constexpr std::size_t front =
    sizeof(trace::BlockHeader) + column_count * sizeof(trace::ColumnPlace);

/// Corrects all checksums.
void seal(Bytes& block) {
    std::size_t at = front + sizeof(std::uint32_t);
    for (std::size_t i = 0; i < column_count; ++i) {
        const std::size_t place = sizeof(trace::BlockHeader) + i * sizeof(trace::ColumnPlace);
        auto column = value_at<trace::ColumnPlace>(block, place);
        const std::size_t size = std::min<std::size_t>(column.size, block.size() - at);
        column.crc = crc(std::span<const std::byte>(block).subspan(at, size));
        put_at(block, place, column);
        at += size;
    }
    put_at(block, front, crc(std::span<const std::byte>(block).first(front)));
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
        for (unsigned bits = 0; bits < 1u << trace::column_count; ++bits) {
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
        std::vector<std::uint32_t> sizes;
        REQUIRE(value_at<trace::BlockHeader>(block, 0).version == trace::with_payloads);
        for (std::size_t i = 0; i < trace::column_count; ++i) {
            sizes.push_back(value_at<trace::ColumnPlace>(block, sizeof(trace::BlockHeader) +
                                                                    i * sizeof(trace::ColumnPlace))
                                .size);
        }
        return sizes;
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

TEST_CASE("a block from before payloads had a column is read") {
    constexpr std::string_view block =
        "05000000020007000a000000000000000a00000000000000790000007760ca0a2600000050d99eab"
        "2d000000cec2a558350000004fba704c21000000cdd381ed32000000cd18d4cd0000000000000000"
        "0be75c5e040000000500000064000000010f0f0f0f00000000000420202004130000000000000000"
        "00000000000020202020000000010203003818f800003f1fff000046260600c04d2d0d00008c6c4c"
        "000093735300009a7a5a0000a181610000a888680000af8f6f0009b69676001cbd9d7d0005000000"
        "00010203040500000014010000000100008000010000800005000000010000000001000080000100"
        "00800005000000000404040304000000a0a7aeb51800000000070e151c232a31e0e7eef5fc030a11"
        "c0c7ced5dce3eaf10400000004000000200000000070503000775737007e5e3e0085654500c4a484"
        "00cbab8b00d2b29200d9b99905000000000102030005000000000a0a0a0003000000543414030000"
        "005b3b1b060000006242226949291100004028b52ffd201445000010010001001ec0020100008000"
        "140000000101010101000000000000000000000000000000";
    Bytes bytes;
    for (std::size_t i = 0; i < block.size(); i += 2) {
        bytes.push_back(std::byte(std::stoul(std::string(block.substr(i, 2)), nullptr, 16)));
    }
    CHECK(value_at<trace::BlockHeader>(bytes, 0).version == trace::block_version);
    CHECK(same(unpacked(bytes).value(), group(access(0, 0, 10), 100)));
}

TEST_CASE("a column that is not requested is not read") {
    Random random(3);
    const Records records = driver_like(random, 500);
    const Bytes whole = packed(records, callers_for(random, records));
    std::size_t at = front + sizeof(std::uint32_t);
    for (unsigned damaged = 0; damaged < column_count; ++damaged) {
        const auto place = value_at<trace::ColumnPlace>(
            whole, sizeof(trace::BlockHeader) + damaged * sizeof(trace::ColumnPlace));
        Bytes block = whole;
        block[at + place.size / 2] ^= std::byte{1};
        at += place.size;
        for (unsigned asked = 0; asked < column_count; ++asked) {
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

TEST_CASE("damage to any byte of a block is noticed") {
    Random random(4);
    const Records records = driver_like(random, 60);
    const Bytes whole = packed(records, callers_for(random, records));
    REQUIRE(unpacked(whole));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
            Bytes block = whole;
            block[at] ^= std::byte(mask);
            REQUIRE_FALSE(unpacked(block));
        }
        REQUIRE_FALSE(unpacked(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(at))));
    }
}

TEST_CASE("a deliberately wrong block gives records or one line") {
    Random random(5);
    unsigned gone = 0, read = 0;
    for (const Records& records : {driver_like(random, 300), records_like(random, 40, 40, 0)}) {
        const Bytes whole = packed(records, callers_for(random, records));
        for (unsigned i = 0; i < 6000; ++i) {
            Bytes block = whole;
            for (unsigned change = 0; change <= random() % 3; ++change) {
                const std::size_t from = random() % 2 == 0 ? 0 : front;
                block[from + random() % (block.size() - from)] = std::byte(random());
            }
            seal(block);
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
    const auto problem = [&](const std::function<void(Bytes&)>& change) {
        Bytes block = whole;
        change(block);
        seal(block);
        trace::Unpacker unpacker;
        try {
            unpacker.open(block);
            unpacker.decode(ColumnSet::all());
            return std::string();
        } catch (const Error& error) {
            return std::string(error.what());
        }
    };
    const auto with_header = [&](const std::function<void(trace::BlockHeader&)>& change) {
        return problem([&](Bytes& block) {
            auto header = value_at<trace::BlockHeader>(block, 0);
            change(header);
            put_at(block, 0, header);
        });
    };
    const std::string senseless = "its header makes no sense";
    CHECK(with_header([](auto&) {}).empty());
    CHECK(with_header([](auto& header) { header.count = 0; }) == senseless);
    CHECK(with_header([](auto& header) { header.count = 4097; }) == senseless);
    CHECK(with_header([](auto& header) { header.version = 1; }) == senseless);
    CHECK(with_header([](auto& header) { header.columns = 6; }) == senseless);
    CHECK(with_header([](auto& header) { header.count = 299; }).find("does not unpack to") !=
          std::string::npos);
    constexpr std::size_t columns = front + sizeof(std::uint32_t);
    CHECK(problem([](Bytes& block) { put_at(block, columns, 0xffff'ffffu); }) ==
          "a column ends within a stream");
    // The first stream of the first column is the number of its entries.
    CHECK(problem([](Bytes& block) { put_at(block, columns + 4, 301u); }) ==
          "a column has 301 entries for 300 records");
    CHECK(problem([](Bytes& block) { put_at(block, columns + 4, 0u); }) ==
          "a column has 0 entries for 300 records");
    CHECK(problem([](Bytes& block) {
              block.resize(block.size() - 1);
          }).starts_with("it ends within column "));
}

// The bounds are the sizes when this was written, and a little more.
TEST_CASE("packed records take a few bytes each") {
    Random random(7);
    const Records records = driver_like(random, 4096);
    const double size = static_cast<double>(packed(records).size()) / 4096;
    CHECK(size < 5.9);
    Records quiet = records; // without data from a card
    for (abi::Record& record : quiet) {
        record.value = 0x90;
        record.lr = 0xc175'd720;
    }
    CHECK(static_cast<double>(packed(quiet).size()) / 4096 < 1.9);
}
