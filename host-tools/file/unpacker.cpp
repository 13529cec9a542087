#include "file/unpacker.hpp"

#include "abi/payload.hpp"
#include "system/crc.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace mmioscope::trace {

namespace {

void set_words(abi::Record& record, const std::array<std::uint32_t, site_words.size()>& words) {
    auto* bytes = reinterpret_cast<std::byte*>(&record);
    std::memcpy(bytes + 4 * site_words[0], &words[0], 4);
    std::memcpy(bytes + 4 * site_words[1], &words[1], 4);
    record.pc = words[2];
    record.va = words[3];
    record.pa_low = words[4];
}

template <typename Number>
Number number_at(const std::uint8_t* bytes) {
    Number number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

std::uint64_t literal_of(std::uint8_t way, const std::uint8_t* bytes) {
    switch (static_cast<ValueForm>(way)) {
    case ValueForm::in_1: return *bytes;
    case ValueForm::in_2: return number_at<std::uint16_t>(bytes);
    case ValueForm::in_4: return number_at<std::uint32_t>(bytes);
    default: return number_at<std::uint64_t>(bytes);
    }
}

std::optional<BlockHeader> header_of(std::span<const std::byte> payload) {
    BlockHeader header{};
    if (payload.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    const bool known = header.version == block_version || header.version == with_payloads;
    const bool sound = header.count >= 1 && header.count <= most_records && known &&
                       header.columns >= columns_of(header.version);
    return sound ? std::optional(header) : std::nullopt;
}

} // namespace

std::optional<BlockFront> block_front(std::span<const std::byte> payload) {
    const std::optional<BlockHeader> header = header_of(payload);
    return header ? std::optional(BlockFront{header->count, {header->earliest, header->latest}})
                  : std::nullopt;
}

void Unpacker::open(std::span<const std::byte> payload) {
    decoded_ = {};
    callers_.clear();
    records_.clear();
    const std::optional<BlockHeader> header = header_of(payload);
    if (!header) {
        throw bad_input("its header makes no sense");
    }
    const std::size_t front = sizeof *header + header->columns * sizeof(ColumnPlace);
    std::uint32_t crc = 0;
    if (payload.size() < front + sizeof crc) {
        throw bad_input("it ends within its header");
    }
    std::memcpy(&crc, payload.data() + front, sizeof crc);
    if (mmioscope::crc(payload.first(front)) != crc) {
        throw bad_input("its header is damaged");
    }
    std::span<const std::byte> rest = payload.subspan(front + sizeof crc);
    columns_ = {};
    crcs_ = {};
    for (std::size_t i = 0; i < columns_of(header->version); ++i) {
        ColumnPlace place{};
        std::memcpy(&place, payload.data() + sizeof *header + i * sizeof place, sizeof place);
        if (place.size > rest.size()) {
            throw bad_input("it ends within column {}", i);
        }
        columns_[i] = rest.first(place.size);
        crcs_[i] = place.crc;
        rest = rest.subspan(place.size);
    }
    times_ = {header->earliest, header->latest};
    records_.assign(header->count, abi::Record{});
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
    constexpr std::array<void (Unpacker::*)(), column_count> readers{
        &Unpacker::read_sites,   &Unpacker::read_times,   &Unpacker::read_values,
        &Unpacker::read_frames,  &Unpacker::read_lrs,     &Unpacker::read_sequences,
        &Unpacker::read_callers, &Unpacker::read_payloads};
    for (std::size_t i = 0; i < column_count; ++i) {
        const auto column = static_cast<Column>(i);
        if (!wanted.has(column) || decoded_.has(column)) {
            continue;
        }
        if (crc(columns_[i]) != crcs_[i]) {
            throw bad_input("column {} is damaged", i);
        }
        reader_.begin(columns_[i]);
        (this->*readers[i])();
        decoded_ = decoded_ | column;
    }
    return records_;
}

template <std::size_t words>
void Unpacker::read_dictionary(std::vector<std::array<std::uint32_t, words>>& entries,
                               std::vector<std::uint16_t>& numbers) {
    std::uint32_t count = 0;
    std::memcpy(&count, reader_.read(sizeof count, bytes_), sizeof count);
    if (count < 1 || count > records_.size()) {
        throw bad_input("a column has {} entries for {} records", count, records_.size());
    }
    const std::uint8_t* bytes = reader_.read(4 * words * count, bytes_);
    entries.assign(count, {});
    for (std::size_t place = 0; place < 4 * words; ++place) {
        for (auto& entry : entries) {
            entry[place / 4] |= std::uint32_t{*bytes++} << (8 * (place % 4));
        }
    }
    numbers.resize(records_.size());
    std::uint32_t greatest = 0;
    const std::uint8_t* low = count > 1 ? reader_.read(numbers.size(), bytes_) : nullptr;
    const std::uint8_t* high = count > 256 ? reader_.read(numbers.size(), high_) : nullptr;
    for (std::uint16_t& to : numbers) {
        const std::uint32_t number =
            (low != nullptr ? *low++ : 0u) | (high != nullptr ? std::uint32_t{*high++} << 8 : 0u);
        greatest = std::max(greatest, number);
        to = static_cast<std::uint16_t>(number);
    }
    if (greatest >= count) {
        throw bad_input("a column has {} entries, and not number {}", count, greatest);
    }
}

void Unpacker::read_sites() {
    read_dictionary(sites_, site_of_);
    const std::uint16_t* site = site_of_.data();
    for (abi::Record& record : records_) {
        set_words(record, sites_[*site++]);
    }
}

void Unpacker::read_frames() {
    read_dictionary(pairs_, numbers_);
    const std::uint16_t* number = numbers_.data();
    for (abi::Record& record : records_) {
        const auto& [sp, task] = pairs_[*number++];
        record.sp = sp;
        record.task = task;
    }
}

void Unpacker::read_times() {
    gaps_.resize(records_.size());
    first_.resize(records_.size());
    reader_.read_numbers(std::span(gaps_));
    reader_.read_numbers(std::span(first_));
    std::uint64_t end = 0;
    const std::uint64_t* gap = gaps_.data();
    const std::uint32_t* duration = first_.data();
    for (abi::Record& record : records_) {
        record.time = end + unfold_sign(*gap++);
        record.duration = *duration++;
        end = record.time + record.duration;
    }
}

void Unpacker::read_values() {
    const std::uint8_t* ways = reader_.read(records_.size(), bytes_);
    std::array<std::size_t, 256> counts{};
    for (std::size_t i = 0; i < records_.size(); ++i) {
        ++counts[ways[i]];
    }
    std::array<const std::uint8_t*, value_ways> literals{};
    std::size_t known = counts[0];
    for (std::size_t way = 1; way < value_ways; ++way) {
        known += counts[way];
        if (counts[way] > 0) {
            literals[way] = reader_.read(counts[way] * value_bytes[way], literals_[way]);
        }
    }
    if (known != records_.size()) {
        throw bad_input("a value has an unknown encoding");
    }
    last_value_.assign(sites_.size(), 0);
    const std::uint16_t* site = site_of_.data();
    for (abi::Record& record : records_) {
        std::uint64_t& last = last_value_[*site++];
        if (const std::uint8_t way = *ways++; way != 0) {
            last = literal_of(way, literals[way]);
            literals[way] += value_bytes[way];
        }
        record.value = last;
    }
}

void Unpacker::read_lrs() {
    const std::uint8_t* ways = reader_.read(records_.size(), bytes_);
    first_.resize(static_cast<std::size_t>(std::count(ways, ways + records_.size(), lr_literal)));
    if (!first_.empty()) {
        reader_.read_numbers(std::span(first_));
    }
    const std::uint32_t* literal = first_.data();
    site_lr_.assign(sites_.size(), 0);
    std::array<std::uint32_t, 256> cpu_lr{};
    for (std::size_t i = 0; i < records_.size(); ++i) {
        abi::Record& record = records_[i];
        std::uint32_t& site = site_lr_[site_of_[i]];
        std::uint32_t& cpu = cpu_lr[record.cpu];
        const std::uint8_t way = ways[i];
        if (way == lr_of_cpu) {
            site = cpu;
        } else if (way == lr_literal) {
            site = *literal++;
        } else if (way != lr_of_site) {
            const std::size_t back = std::size_t{way} - lr_value + 1;
            if (way > lr_literal || back > i) {
                throw bad_input("an LR has an unknown encoding");
            }
            site = static_cast<std::uint32_t>(records_[i - back].value);
        }
        cpu = site;
        record.lr = site;
    }
}

void Unpacker::read_sequences() {
    for (std::vector<std::uint32_t>* numbers : {&first_, &second_, &third_}) {
        numbers->resize(records_.size());
        reader_.read_rare(*numbers);
    }
    struct Cpu {
        std::uint32_t sequence = 0;
        std::uint32_t commit = 0;
    };
    std::array<Cpu, 256> cpus{};
    step_.assign(sites_.size(), 1);
    last_lock_.resize(0x10000);
    for (const auto& site : sites_) {
        last_lock_[site[1] & 0xffff] = 0; // the low half of the second word is the device
    }
    const std::uint16_t* site = site_of_.data();
    const std::uint32_t* sequence = first_.data();
    const std::uint32_t* commit = second_.data();
    const std::uint32_t* lock_step = third_.data();
    for (abi::Record& record : records_) {
        Cpu& cpu = cpus[record.cpu];
        cpu.sequence += 1 + unfold_sign(*sequence++);
        record.cpu_sequence = cpu.sequence;
        cpu.commit += unfold_sign(*commit++);
        record.commit = cpu.sequence + cpu.commit;
        std::uint32_t& lock = last_lock_[record.device];
        std::uint32_t& step = step_[*site++];
        step += unfold_sign(*lock_step++);
        lock += step;
        record.lock_sequence = lock;
    }
}

void Unpacker::read_callers() {
    if (columns_[static_cast<std::size_t>(Column::caller)].empty()) {
        return;
    }
    read_dictionary(words_, numbers_);
    callers_.resize(records_.size());
    const std::uint16_t* number = numbers_.data();
    for (Caller& to : callers_) {
        to = words_[*number++].front();
    }
}

void Unpacker::read_payloads() {
    if (columns_[static_cast<std::size_t>(Column::payload)].empty()) {
        return;
    }
    const auto count = static_cast<std::size_t>(
        std::ranges::count(records_, abi::RecordType::payload, &abi::Record::type));
    const std::uint8_t* bytes = reader_.read(count * abi::piece_bytes, bytes_);
    for (abi::Record& record : records_) {
        if (record.type == abi::RecordType::payload) {
            std::memcpy(abi::bytes_of(record), bytes, abi::piece_bytes);
            bytes += abi::piece_bytes;
        }
    }
}

StreamReader::Stream StreamReader::next() {
    std::uint32_t head = 0;
    if (rest_.size() < sizeof head) {
        throw bad_input("a column ends within a stream");
    }
    std::memcpy(&head, rest_.data(), sizeof head);
    rest_ = rest_.subspan(sizeof head);
    const std::uint32_t size = head & ((1u << stream_kind_shift) - 1);
    if (size > rest_.size()) {
        throw bad_input("a column ends within a stream");
    }
    const Stream stream{static_cast<StreamKind>(head >> stream_kind_shift), rest_.first(size)};
    rest_ = rest_.subspan(size);
    return stream;
}

// Made at first use: unpacked traces need none.
ZSTD_DCtx* StreamReader::context() {
    if (!context_) {
        context_.reset(ZSTD_createDCtx());
    }
    if (!context_) {
        throw std::bad_alloc();
    }
    return context_.get();
}

const std::uint8_t* StreamReader::read(std::size_t size, std::vector<std::uint8_t>& buffer) {
    return unpack(next(), size, buffer);
}

const std::uint8_t* StreamReader::unpack(const Stream& stream, std::size_t size,
                                         std::vector<std::uint8_t>& buffer) {
    const std::span<const std::byte> packed = stream.packed;
    if (stream.kind == StreamKind::stored && packed.size() == size) {
        return reinterpret_cast<const std::uint8_t*>(packed.data());
    }
    if (buffer.size() < size) {
        buffer.resize(size);
    }
    if (stream.kind == StreamKind::repeated && packed.size() == 1) {
        std::memset(buffer.data(), static_cast<int>(packed.front()), size);
    } else if (stream.kind != StreamKind::zstd ||
               ZSTD_decompressDCtx(context(), buffer.data(), size, packed.data(), packed.size()) !=
                   size) {
        throw bad_input("a stream does not unpack to {} bytes", size);
    }
    return buffer.data();
}

} // namespace mmioscope::trace
