#include "file/index.hpp"

#include "file/file_reader.hpp"
#include "records/callers.hpp"
#include "system/crc.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace mmioscope::trace {

namespace {

// The position of the index, from the file's last section. Later versions of `end` may have more
// fields, so search from the end of the file.
std::uint64_t index_offset(ByteSource& source) {
    constexpr std::size_t tail = 4096;
    std::array<std::byte, tail> bytes;
    const std::uint64_t size = *source.size();
    const std::uint64_t start = size - std::min<std::uint64_t>(size / 8 * 8, tail);
    source.seek(start);
    const std::span<const std::byte> read = std::span(bytes).first(source.read(bytes.data(), tail));
    constexpr std::size_t least = sizeof(abi::SectionHeader) + sizeof(abi::End);
    for (std::size_t back = least; back <= read.size(); back += 8) {
        abi::SectionHeader header{};
        std::memcpy(&header, read.data() + (read.size() - back), sizeof header);
        const auto payload = read.last(back - sizeof header);
        if (is_sound(header) && header.type == abi::SectionType::end &&
            header.size == payload.size() && header.crc == crc(payload)) {
            return end_of(payload).index_offset;
        }
    }
    return 0;
}

} // namespace

std::optional<FileIndex> parse_index(std::span<const std::byte> payload) {
    abi::IndexHeader header{};
    if (payload.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.entry_size < sizeof(abi::IndexEntry)) {
        return std::nullopt;
    }
    FileIndex index;
    index.end = header.end;
    payload = payload.subspan(sizeof header);
    index.entries.reserve(payload.size() / header.entry_size);
    for (; payload.size() >= header.entry_size; payload = payload.subspan(header.entry_size)) {
        abi::IndexEntry& entry = index.entries.emplace_back();
        std::memcpy(&entry, payload.data(), sizeof entry);
        const abi::IndexEntry before = index.entries.size() < 2 ? abi::IndexEntry{} : (&entry)[-1];
        if (entry.offset <= before.offset || entry.offset >= index.end ||
            entry.records_before < before.records_before) {
            return std::nullopt;
        }
    }
    return index;
}

std::optional<FileIndex> read_index(ByteSource& source) {
    const std::uint64_t offset = index_offset(source);
    if (offset < sizeof(abi::FileHeader) || offset >= *source.size()) {
        return std::nullopt;
    }
    FileReader reader(source, offset);
    const std::optional<Section> section = reader.next();
    if (!section || section->cut || section->type != abi::SectionType::index) {
        return std::nullopt;
    }
    std::optional<FileIndex> index = parse_index(section->payload);
    return index && index->end == offset ? index : std::nullopt;
}

namespace {

void join_into(abi::IndexEntry& first, const abi::IndexEntry& second) {
    first.earliest = std::min(first.earliest, second.earliest);
    first.latest = std::max(first.latest, second.latest);
    first.types |= second.types;
}

} // namespace

void IndexBuilder::add(abi::SectionType type, std::uint64_t offset, const Extent& records) {
    const std::uint32_t types = abi::index_type_bit(type) | records.index_bits();
    join_into(entry_for(offset), {0, 0, records.times.earliest, records.times.latest, types, 0});
    records_ += records.records;
    open_ = type == callers_section;
}

abi::IndexEntry& IndexBuilder::entry_for(std::uint64_t offset) {
    const bool full =
        !entries_.empty() && (offset - entries_.back().offset >= grain_ ||
                              records_ - entries_.back().records_before >= grain_ / 16);
    if (entries_.empty() || (!open_ && full)) {
        if (entries_.size() == max_index_entries) {
            join();
        }
        entries_.push_back({offset, records_, TimeSpan().earliest, TimeSpan().latest, 0, 0});
    }
    return entries_.back();
}

void IndexBuilder::join() {
    for (std::size_t i = 0; i < entries_.size() / 2; ++i) {
        entries_[i] = entries_[2 * i];
        join_into(entries_[i], entries_[2 * i + 1]);
    }
    entries_.resize(entries_.size() / 2);
    grain_ *= 2;
}

std::vector<std::byte> index_payload(std::span<const abi::IndexEntry> entries, std::uint64_t end) {
    const abi::IndexHeader header{sizeof(abi::IndexEntry), 0, end};
    std::vector<std::byte> payload(sizeof header + entries.size_bytes());
    std::memcpy(payload.data(), &header, sizeof header);
    if (!entries.empty()) {
        std::memcpy(payload.data() + sizeof header, entries.data(), entries.size_bytes());
    }
    return payload;
}

} // namespace mmioscope::trace
