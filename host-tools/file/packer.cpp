#include "file/packer.hpp"

#include "abi/payload.hpp"
#include "records/open_accesses.hpp"
#include "system/crc.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace mmioscope::trace {

namespace {

std::array<std::uint32_t, site_words.size()> site_of(const abi::Record& record) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    std::array<std::uint32_t, site_words.size()> words{0, 0, record.pc, record.va, record.pa_low};
    std::memcpy(&words[0], bytes + 4 * site_words[0], 4);
    std::memcpy(&words[1], bytes + 4 * site_words[1], 4);
    return words;
}

/// As the access has it, if it fits.
ValueForm form_of(const abi::Record& record) {
    const unsigned size = abi::access_size(record);
    if (size >= 8 || record.value >> (8 * size) != 0) {
        return ValueForm::in_8;
    }
    return size == 4 ? ValueForm::in_4 : size == 2 ? ValueForm::in_2 : ValueForm::in_1;
}

} // namespace

std::span<const std::byte> Packer::pack(std::span<const abi::Record> records,
                                        std::span<const Caller> callers) {
    records_ = records;
    const Extent extent = extent_of(records);
    if (extent.groups) {
        take_payloads();
    }
    const std::uint16_t version = extent.groups ? with_payloads : block_version;
    const auto count = static_cast<std::uint16_t>(columns_of(version));
    const BlockHeader header{static_cast<std::uint32_t>(records.size()), version, count,
                             extent.times.earliest, extent.times.latest};
    std::array<ColumnPlace, column_count> places{};
    const std::size_t front = sizeof header + count * sizeof places[0];
    block_.resize(front + sizeof(std::uint32_t));
    writer_.begin(block_);

    std::size_t column = 0;
    std::size_t start = block_.size();
    const auto close = [&] {
        const auto bytes = std::span<const std::byte>(block_).subspan(start);
        places[column++] = {static_cast<std::uint32_t>(bytes.size()), crc(bytes)};
        start = block_.size();
    };
    write_sites(), close();
    write_times(), close();
    write_values(), close();
    write_frames(), close();
    write_lrs(), close();
    write_sequences(), close();
    write_callers(callers), close();
    if (extent.groups) {
        writer_.write(payloads_), close();
    }

    std::memcpy(block_.data(), &header, sizeof header);
    std::memcpy(block_.data() + sizeof header, places.data(), front - sizeof header);
    const std::uint32_t crc = mmioscope::crc(std::span<const std::byte>(block_).first(front));
    std::memcpy(block_.data() + front, &crc, sizeof crc);
    return block_;
}

void Packer::take_payloads() {
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

// The number of entries; the entries, the first bytes of all first words first; then a number for
// each record: the low bytes, and the high ones if there are more than 256 entries.
template <std::size_t words>
void Packer::write_dictionary(const Dictionary<words>& dictionary,
                              std::span<const std::uint16_t> numbers) {
    const auto entries = dictionary.entries();
    const auto count = static_cast<std::uint32_t>(entries.size());
    writer_.write(std::as_bytes(std::span(&count, 1)));
    bytes_.clear();
    for (std::size_t place = 0; place < 4 * words; ++place) {
        for (const auto& entry : entries) {
            bytes_.push_back(static_cast<std::byte>(entry[place / 4] >> (8 * (place % 4))));
        }
    }
    writer_.write(bytes_);
    for (unsigned shift = 0; shift < 16 && (count - 1) >> shift != 0; shift += 8) {
        bytes_.resize(numbers.size());
        std::ranges::transform(numbers, bytes_.begin(), [shift](std::uint16_t number) {
            return static_cast<std::byte>(number >> shift);
        });
        writer_.write(bytes_);
    }
}

void Packer::write_sites() {
    sites_.clear();
    site_of_.resize(records_.size());
    std::uint16_t* number = site_of_.data();
    for (const abi::Record& record : records_) {
        *number++ = sites_.number(site_of(record));
    }
    write_dictionary(sites_, site_of_);
}

void Packer::write_frames() {
    frames_.clear();
    numbers_.resize(records_.size());
    std::uint16_t* number = numbers_.data();
    for (const abi::Record& record : records_) {
        *number++ = frames_.number({record.sp, record.task});
    }
    write_dictionary(frames_, numbers_);
}

// The time since the end of the previous record, which is negative if another CPU's ends later;
// then the durations.
void Packer::write_times() {
    gaps_.resize(records_.size());
    first_.resize(records_.size());
    std::uint64_t* gap = gaps_.data();
    std::uint32_t* duration = first_.data();
    std::uint64_t end = 0;
    for (const abi::Record& record : records_) {
        *gap++ = fold_sign(record.time - end);
        *duration++ = record.duration;
        end = record.time + record.duration;
    }
    writer_.write_numbers(std::span<const std::uint64_t>(gaps_));
    writer_.write_numbers(std::span<const std::uint32_t>(first_));
}

// The form of each; then the values in one byte, in two, four and eight, if any.
void Packer::write_values() {
    last_value_.assign(sites_.entries().size(), 0);
    bytes_.resize(records_.size());
    for (auto& literals : literals_) {
        literals.clear();
    }
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const abi::Record& record = records_[i];
        std::uint64_t& last = last_value_[site_of_[i]];
        const ValueForm form = record.value == last ? ValueForm::as_last : form_of(record);
        const auto way = static_cast<std::size_t>(form);
        bytes_[i] = static_cast<std::byte>(way);
        if (way != 0) {
            const auto* value = reinterpret_cast<const std::byte*>(&record.value);
            literals_[way].insert(literals_[way].end(), value, value + value_bytes[way]);
            last = record.value;
        }
    }
    writer_.write(bytes_);
    for (const auto& literals : literals_) {
        if (!literals.empty()) {
            writer_.write(literals);
        }
    }
}

std::uint8_t Packer::way_of_lr(std::size_t i) const {
    const abi::Record& record = records_[i];
    if (record.lr == site_lr_[site_of_[i]]) {
        return lr_of_site;
    }
    if (record.lr == cpu_lr_[record.cpu]) {
        return lr_of_cpu;
    }
    const std::size_t back = std::min<std::size_t>(i, lr_values);
    for (std::size_t n = 0; n < back; ++n) {
        if (record.lr == static_cast<std::uint32_t>(records_[i - 1 - n].value)) {
            return static_cast<std::uint8_t>(lr_value + n);
        }
    }
    return lr_literal;
}

// The form of each; then the full values, if any.
void Packer::write_lrs() {
    site_lr_.assign(sites_.entries().size(), 0);
    cpu_lr_.fill(0);
    bytes_.resize(records_.size());
    first_.clear();
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const std::uint32_t lr = records_[i].lr;
        const std::uint8_t way = way_of_lr(i);
        if (way == lr_literal) {
            first_.push_back(lr);
        }
        bytes_[i] = std::byte{way};
        site_lr_[site_of_[i]] = lr;
        cpu_lr_[records_[i].cpu] = lr;
    }
    writer_.write(bytes_);
    if (!first_.empty()) {
        writer_.write_numbers(std::span<const std::uint32_t>(first_));
    }
}

// The difference of each from the expected value: cpu_sequence counts the CPU's records, commit
// goes along with it, and lock_sequence increases from the device's last one by as much as at the
// last visit of the site, initially by one.
void Packer::write_sequences() {
    struct Cpu {
        std::uint32_t sequence = 0;
        std::uint32_t commit = 0; ///< minus the sequence
    };
    std::array<Cpu, 256> cpus{};
    step_.assign(sites_.entries().size(), 1);
    for (const abi::Record& record : records_) {
        last_lock_[record.device] = 0;
    }
    for (std::vector<std::uint32_t>* numbers : {&first_, &second_, &third_}) {
        numbers->resize(records_.size());
    }
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const abi::Record& record = records_[i];
        Cpu& cpu = cpus[record.cpu];
        first_[i] = fold_sign(record.cpu_sequence - cpu.sequence - 1);
        cpu.sequence = record.cpu_sequence;
        const std::uint32_t commit = record.commit - record.cpu_sequence;
        second_[i] = fold_sign(commit - cpu.commit);
        cpu.commit = commit;
        std::uint32_t& lock = last_lock_[record.device];
        std::uint32_t& step = step_[site_of_[i]];
        third_[i] = fold_sign(record.lock_sequence - lock - step);
        step = record.lock_sequence - lock;
        lock = record.lock_sequence;
    }
    writer_.write_rare(first_);
    writer_.write_rare(second_);
    writer_.write_rare(third_);
}

// Empty if no record has one.
void Packer::write_callers(std::span<const Caller> callers) {
    if (trace::lr_holds_for_all(callers)) {
        return;
    }
    callers_.clear();
    numbers_.resize(callers.size());
    std::uint16_t* number = numbers_.data();
    for (const Caller caller : callers) {
        *number++ = callers_.number({caller});
    }
    write_dictionary(callers_, numbers_);
}

namespace {

constexpr int level = 1; // of zstd

bool all_the_same(std::span<const std::byte> bytes) {
    return std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

} // namespace

StreamWriter::StreamWriter() : context_(ZSTD_createCCtx()) {
    if (!context_) {
        throw std::bad_alloc();
    }
}

void StreamWriter::put(StreamKind kind, std::span<const std::byte> packed) {
    const std::uint32_t head = static_cast<std::uint32_t>(kind) << stream_kind_shift |
                               static_cast<std::uint32_t>(packed.size());
    const auto head_bytes = std::as_bytes(std::span(&head, 1));
    to_->insert(to_->end(), head_bytes.begin(), head_bytes.end());
    to_->insert(to_->end(), packed.begin(), packed.end());
}

void StreamWriter::write(std::span<const std::byte> bytes) {
    if (bytes.size() > 1 && all_the_same(bytes)) {
        put(StreamKind::repeated, bytes.first(1));
        return;
    }
    compressed_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t packed = ZSTD_compressCCtx(
        context_.get(), compressed_.data(), compressed_.size(), bytes.data(), bytes.size(), level);
    // Saving next to nothing is not worth the time for unpacking.
    if (ZSTD_isError(packed) != 0 || packed + bytes.size() / 64 >= bytes.size()) {
        put(StreamKind::stored, bytes);
    } else {
        put(StreamKind::zstd, std::span<const std::byte>(compressed_).first(packed));
    }
}

} // namespace mmioscope::trace
