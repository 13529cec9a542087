#include "file/packer.hpp"

#include "abi/payload.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>

namespace mmioscope::trace {

namespace {

constexpr int level = 1; // of zstd

/// Bytes; the columns of most_records records have less.
constexpr std::uint64_t most_content = 64 * most_records;

/// Arrays are written and read eight numbers at a time.
constexpr std::size_t padded(std::size_t count) {
    return (count + 7) / 8 * 8;
}

/// Makes a signed number unsigned, small if it is near 0: 0, -1, 1, -2 become 0, 1, 2, 3.
template <typename Number>
constexpr Number fold_sign(Number number) {
    return (number << 1) ^ (0 - (number >> (8 * sizeof number - 1)));
}
template <typename Number>
constexpr Number unfold_sign(Number folded) {
    return (folded >> 1) ^ (0 - (folded & 1));
}

// A field becomes a number by what is expected of it, or the number becomes the field: 0 if it is
// as expected, and a small one if it is near.

struct ToNumber {
    using Record = const abi::Record;

    template <typename Field>
    static void near(Field field, Field expected, std::uint64_t& number) {
        number = fold_sign<Field>(field - expected);
    }
    template <typename Field>
    static void same(Field field, Field expected, std::uint64_t& number) {
        number = field ^ expected;
    }
};

struct ToField {
    using Record = abi::Record;

    template <typename Field>
    static void near(Field& field, Field expected, std::uint64_t number) {
        field = expected + unfold_sign(static_cast<Field>(number));
    }
    template <typename Field>
    static void same(Field& field, Field expected, std::uint64_t number) {
        field = expected ^ static_cast<Field>(number);
    }
};

/// The records of a block, with what all columns may be expected by.
template <typename Record>
struct Block {
    std::span<Record> records;
    std::uint64_t earliest;
    const std::uint64_t* site_of; ///< of each record
    std::size_t sites;
};

using Arrays = std::array<Numbers, 3>;

// The time since the end of the previous record, which is negative if another CPU's ends later;
// then the durations.
template <typename To>
void code_times(const Block<typename To::Record>& block, Arrays& arrays) {
    std::uint64_t* gap = arrays[0].data();
    std::uint64_t* duration = arrays[1].data();
    std::uint64_t end = block.earliest;
    for (auto& record : block.records) {
        To::near(record.time, end, *gap++);
        To::same(record.duration, 0u, *duration++);
        end = record.time + record.duration;
    }
}

// As the last one of the site.
template <typename To>
void code_values(const Block<typename To::Record>& block, Arrays& arrays) {
    std::uint64_t* number = arrays[0].data();
    const std::uint64_t* site = block.site_of;
    std::vector<std::uint64_t> last(block.sites);
    for (auto& record : block.records) {
        std::uint64_t& expected = last[*site++];
        To::same(record.value, expected, *number++);
        expected = record.value;
    }
}

// As the last one of the site or of the CPU, or as the value of one of the records before: loops
// that read a FIFO load into LR. The first number says which, the second how it differs.
template <typename To>
void code_lrs(const Block<typename To::Record>& block, Arrays& arrays) {
    constexpr std::size_t ways = 10;
    std::vector<std::uint32_t> of_sites(block.sites);
    std::array<std::uint32_t, 256> of_cpus{};
    for (std::size_t i = 0; i < block.records.size(); ++i) {
        auto& record = block.records[i];
        std::uint32_t& of_site = of_sites[block.site_of[i]];
        std::uint32_t& of_cpu = of_cpus[record.cpu];
        const auto expected = [&](std::size_t way) {
            return way == 0   ? of_site
                   : way == 1 ? of_cpu
                   : way >= ways || way - 1 > i
                       ? 0
                       : static_cast<std::uint32_t>(block.records[i + 1 - way].value);
        };
        std::uint64_t& way = arrays[0][i];
        if constexpr (std::is_same_v<To, ToNumber>) {
            for (way = 0; way < ways && expected(way) != record.lr;) {
                ++way;
            }
        }
        To::same(record.lr, expected(way), arrays[1][i]);
        of_site = of_cpu = record.lr;
    }
}

// cpu_sequence counts the CPU's records, commit goes along with it, and lock_sequence counts the
// device's. Devices of one low byte are confused, which costs only bytes.
template <typename To>
void code_sequences(const Block<typename To::Record>& block, Arrays& arrays) {
    std::array<std::uint32_t, 256> sequences{};
    std::array<std::uint32_t, 256> commits{}; // minus the sequence
    std::array<std::uint32_t, 256> locks{};
    for (std::size_t i = 0; i < block.records.size(); ++i) {
        auto& record = block.records[i];
        std::uint32_t& sequence = sequences[record.cpu];
        std::uint32_t& commit = commits[record.cpu];
        std::uint32_t& lock = locks[record.device % locks.size()];
        To::near(record.cpu_sequence, sequence + 1, arrays[0][i]);
        sequence = record.cpu_sequence;
        To::near(record.commit, sequence + commit, arrays[1][i]);
        commit = record.commit - sequence;
        To::near(record.lock_sequence, lock + 1, arrays[2][i]);
        lock = record.lock_sequence;
    }
}

/// The number of arrays of these columns.
constexpr std::size_t arrays_of(Column column) {
    return column == Column::value ? 1 : column == Column::sequence ? 3 : 2;
}

template <typename To>
void code(Column column, const Block<typename To::Record>& block, Arrays& arrays) {
    switch (column) {
    case Column::time: return code_times<To>(block, arrays);
    case Column::value: return code_values<To>(block, arrays);
    case Column::lr: return code_lrs<To>(block, arrays);
    case Column::sequence: return code_sequences<To>(block, arrays);
    default: return;
    }
}

template <std::size_t words>
using Entry = std::array<std::uint32_t, words>;

// Words of a row of a dictionary, by their numbers.
template <std::size_t... word>
struct Words {
    static constexpr std::size_t count = sizeof...(word);

    template <typename Row>
    static Entry<count> of(const Row& row) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&row);
        Entry<count> entry;
        std::size_t i = 0;
        (std::memcpy(&entry[i++], bytes + 4 * word, 4), ...);
        return entry;
    }
    template <typename Row>
    static void put(const Entry<count>& entry, Row& row) {
        auto* bytes = reinterpret_cast<std::byte*>(&row);
        std::size_t i = 0;
        (std::memcpy(bytes + 4 * word, &entry[i++], 4), ...);
    }
};
using Site = Words<1, 7, 10, 13, 14>; // type to mode, device to pa_high, pc, va, pa_low
using Frame = Words<12, 15>;          // sp, task
using Return = Words<0>;              // a caller
static_assert(offsetof(abi::Record, type) == 4 && offsetof(abi::Record, device) == 28 &&
              offsetof(abi::Record, pc) == 40 && offsetof(abi::Record, sp) == 48 &&
              offsetof(abi::Record, va) == 52 && offsetof(abi::Record, pa_low) == 56 &&
              offsetof(abi::Record, task) == 60);

/// The different entries of a block, numbered in the order of their first occurrence.
template <std::size_t words>
class Dictionary {
public:
    Dictionary() { slots_.fill(none); }

    /// The number of `entry`, which is added if it is new. At most most_records entries.
    std::uint16_t number(const Entry<words>& entry) {
        std::uint32_t hash = 0;
        for (const std::uint32_t word : entry) {
            hash = (hash ^ word) * 0x9e37'79b1;
        }
        for (std::size_t slot = hash >> (32 - slot_bits);; slot = (slot + 1) % slots_.size()) {
            if (slots_[slot] == none) {
                slots_[slot] = static_cast<std::uint16_t>(entries_.size());
                entries_.push_back(entry);
            }
            if (entries_[slots_[slot]] == entry) {
                return slots_[slot];
            }
        }
    }
    const std::vector<Entry<words>>& entries() const { return entries_; }

private:
    static constexpr std::uint16_t none = 0xffff;
    static constexpr unsigned slot_bits = 13; // twice as many slots as entries
    static_assert(1u << slot_bits == 2 * most_records);

    std::vector<Entry<words>> entries_;
    std::array<std::uint16_t, std::size_t{1} << slot_bits> slots_;
};

} // namespace

Packer::Packer() : context_(ZSTD_createCCtx()) {
    if (!context_) {
        throw std::bad_alloc();
    }
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

std::span<const std::byte> Packer::pack(std::span<const abi::Record> records,
                                        std::span<const Caller> callers) {
    records_ = records;
    callers_ = callers;
    const Extent extent = extent_of(records);
    if (extent.groups) {
        collect_payloads();
    }
    earliest_ = extent.times.earliest;
    BlockHeader header{static_cast<std::uint32_t>(records.size()),
                       0,
                       extent.times.earliest,
                       extent.times.latest,
                       {}};
    block_.resize(std::max(block_.size(), sizeof header));
    size_ = sizeof header;
    for (std::size_t i = 0; i < column_count; ++i) {
        content_.clear();
        ends_.clear();
        write(static_cast<Column>(i));
        header.sizes[i] = compress();
    }
    std::memcpy(block_.data(), &header, sizeof header);
    return std::span(block_).first(size_);
}

void Packer::collect_payloads() {
    payloads_.clear();
    emptied_.assign(records_.begin(), records_.end());
    for (abi::Record& record : emptied_) {
        if (record.type == abi::RecordType::payload) {
            const auto bytes = std::as_writable_bytes(
                std::span(abi::bytes_of(record), std::size_t{abi::piece_bytes}));
            payloads_.insert(payloads_.end(), bytes.begin(), bytes.end());
            std::ranges::fill(bytes, std::byte{0});
        }
    }
    records_ = emptied_;
}

void Packer::write(Column column) {
    switch (column) {
    case Column::site: sites_ = write_dictionary<Site>(site_of_, records_); return;
    case Column::frame: write_dictionary<Frame>(numbers_[0], records_); return;
    case Column::caller:
        if (!lr_holds_for_all(callers_)) {
            write_dictionary<Return>(numbers_[0], callers_);
        }
        return;
    case Column::payload:
        content_.swap(payloads_);
        payloads_.clear();
        ends_.push_back(content_.size());
        return;
    default:
        const std::span arrays = std::span(numbers_).first(arrays_of(column));
        for (Numbers& numbers : arrays) {
            numbers.resize(records_.size());
        }
        code<ToNumber>(column, {records_, earliest_, site_of_.data(), sites_}, numbers_);
        for (Numbers& numbers : arrays) {
            write(numbers);
        }
    }
}

// The number of entries, their first words, their second ones, ...; then a number for each record.
// Returns the number of entries.
template <typename Words, typename Row>
std::size_t Packer::write_dictionary(Numbers& numbers, std::span<const Row> rows) {
    Dictionary<Words::count> dictionary;
    numbers.resize(rows.size());
    std::uint64_t* number = numbers.data();
    for (const Row& row : rows) {
        *number++ = dictionary.number(Words::of(row));
    }
    Numbers words{dictionary.entries().size()};
    write(words);
    for (std::size_t i = 0; i < Words::count; ++i) {
        words.clear();
        for (const auto& entry : dictionary.entries()) {
            words.push_back(entry[i]);
        }
        write(words);
    }
    write(numbers);
    return dictionary.entries().size();
}

void Packer::write(Numbers& numbers) {
    numbers.resize(padded(numbers.size()));
    std::uint64_t all = 0;
    for (const std::uint64_t number : numbers) {
        all |= number;
    }
    const auto bytes = static_cast<std::size_t>(std::bit_width(all) + 7) / 8;
    content_.push_back(static_cast<std::byte>(bytes));
    const std::size_t before = content_.size();
    content_.resize(before + bytes * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); i += 8) {
        const std::uint64_t* eight = &numbers[i];
        std::byte* to = &content_[before + i];
        const std::uint64_t any = std::reduce(eight, eight + 8, std::uint64_t{0}, std::bit_or());
        for (unsigned shift = 0; shift < 64 && any >> shift != 0;
             shift += 8, to += numbers.size()) {
#pragma GCC unroll 8
            for (std::size_t n = 0; n < 8; ++n) {
                to[n] = static_cast<std::byte>(eight[n] >> shift);
            }
        }
    }
    for (std::size_t place = 1; place <= bytes && numbers.size() >= 512; ++place) {
        ends_.push_back(before + place * numbers.size());
    }
}

// Bytes of different places are compressed for themselves: their statistics differ.
std::uint32_t Packer::compress() {
    if (content_.empty()) {
        return 0;
    }
    ends_.push_back(content_.size());
    const std::size_t most = size_ + ZSTD_compressBound(content_.size()) + 16 * ends_.size();
    block_.resize(std::max(block_.size(), most));
    ZSTD_outBuffer out{block_.data(), block_.size(), size_};
    ZSTD_inBuffer in{content_.data(), 0, 0};
    ZSTD_CCtx_setPledgedSrcSize(context_.get(), content_.size());
    for (std::size_t i = 0; in.pos < content_.size(); ++i) {
        in.size = ends_[i];
        ZSTD_compressStream2(context_.get(), &out, &in,
                             in.size == content_.size() ? ZSTD_e_end : ZSTD_e_flush);
    }
    return static_cast<std::uint32_t>(out.pos - std::exchange(size_, out.pos));
}

std::optional<BlockHeader> block_header(std::span<const std::byte> payload) {
    BlockHeader header{};
    if (payload.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    return header.count >= 1 && header.count <= most_records ? std::optional(header) : std::nullopt;
}

void Unpacker::open(std::span<const std::byte> payload) {
    decoded_ = {};
    callers_.clear();
    records_.clear();
    const std::optional<BlockHeader> header = block_header(payload);
    if (!header) {
        throw bad_input("its header makes no sense");
    }
    header_ = *header;
    columns_ = payload.subspan(sizeof header_);
    records_.assign(header_.count, abi::Record{});
}

std::span<const abi::Record> Unpacker::decode(ColumnSet wanted) {
    // First the columns that others depend on. Some depend on payloads that are not there yet.
    if (wanted.has(Column::payload)) {
        wanted = ColumnSet::all();
    }
    if (wanted.has(Column::lr)) {
        wanted = wanted | Column::value;
    }
    if (wanted.has(Column::value) || wanted.has(Column::sequence)) {
        wanted = wanted | Column::site;
    }
    std::size_t offset = 0;
    for (std::size_t i = 0; i < column_count; offset += header_.sizes[i++]) {
        const auto column = static_cast<Column>(i);
        if (wanted.has(column) && !decoded_.has(column)) {
            if (offset + header_.sizes[i] > columns_.size()) {
                throw bad_input("it ends within column {}", i);
            }
            expand(columns_.subspan(offset, header_.sizes[i]), i);
            read(column);
            decoded_ = decoded_ | column;
        }
    }
    return records_;
}

void Unpacker::expand(std::span<const std::byte> frame, std::size_t column) {
    if (!context_) { // made at first use: unpacked traces need none
        context_.reset(ZSTD_createDCtx());
    }
    if (!context_) {
        throw std::bad_alloc();
    }
    const std::uint64_t size = zstd_size(frame);
    content_.resize(std::max(content_.size(), std::min(size, most_content)));
    if (!frame.empty() && ZSTD_decompressDCtx(context_.get(), content_.data(), content_.size(),
                                              frame.data(), frame.size()) != size) {
        throw bad_input("column {} is damaged", column);
    }
    rest_ = std::span(content_).first(size);
}

void Unpacker::read(Column column) {
    switch (column) {
    case Column::site: sites_ = read_dictionary<Site>(site_of_, std::span(records_)); return;
    case Column::frame: read_dictionary<Frame>(numbers_[0], std::span(records_)); return;
    case Column::caller:
        if (!rest_.empty()) {
            callers_.resize(records_.size());
            read_dictionary<Return>(numbers_[0], std::span(callers_));
        }
        return;
    case Column::payload: read_payloads(); return;
    default:
        for (Numbers& numbers : std::span(numbers_).first(arrays_of(column))) {
            read(numbers, records_.size());
        }
        code<ToField>(column, {records_, header_.earliest, site_of_.data(), sites_}, numbers_);
    }
}

template <typename Words, typename Row>
std::size_t Unpacker::read_dictionary(Numbers& numbers, std::span<Row> rows) {
    read(numbers, 1);
    const std::size_t count = numbers.front();
    if (count < 1 || count > rows.size()) {
        throw bad_input("a column has {} entries for {} records", count, rows.size());
    }
    std::vector<Entry<Words::count>> entries(count);
    for (std::size_t word = 0; word < Words::count; ++word) {
        read(numbers, count);
        for (std::size_t i = 0; i < count; ++i) {
            entries[i][word] = static_cast<std::uint32_t>(numbers[i]);
        }
    }
    read(numbers, rows.size());
    const std::uint64_t* number = numbers.data();
    const auto* const all = entries.data();
    for (Row& row : rows) {
        if (*number >= count) {
            throw bad_input("a column has {} entries, and not number {}", count, *number);
        }
        Words::put(all[*number++], row);
    }
    return count;
}

void Unpacker::read_payloads() {
    for (abi::Record& record : records_) {
        if (record.type == abi::RecordType::payload) {
            std::memcpy(abi::bytes_of(record), next(abi::piece_bytes).data(), abi::piece_bytes);
        }
    }
}

std::span<const std::byte> Unpacker::next(std::size_t size) {
    if (size > rest_.size()) {
        throw bad_input("a column ends within its numbers");
    }
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
}

void Unpacker::read(Numbers& numbers, std::size_t count) {
    numbers.resize(padded(count));
    const auto bytes = static_cast<unsigned>(next(1).front());
    if (bytes > sizeof numbers[0]) {
        throw bad_input("a column has numbers of {} bytes", bytes);
    }
    std::uint64_t* const to = numbers.data();
    std::memset(to, 0, numbers.size() * sizeof *to);
    for (unsigned shift = 0; shift < 8 * bytes; shift += 8) {
        const std::byte* plane = next(numbers.size()).data();
        for (std::size_t i = 0; i < numbers.size(); i += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, plane + i, sizeof eight);
            if (eight == 0) { // most are
                continue;
            }
#pragma GCC unroll 8
            for (std::size_t n = 0; n < 8; ++n) {
                to[i + n] |= static_cast<std::uint64_t>(plane[i + n]) << shift;
            }
        }
    }
}

} // namespace mmioscope::trace
