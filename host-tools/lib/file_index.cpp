#include "lib/file_index.hpp"

#include "lib/crc.hpp"
#include "lib/file_reader.hpp"
#include "pack/unpacker.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace mmioscope::trace {

namespace {

/// How many records a section has, and their times.
struct Extent {
    std::uint64_t count = 0;
    TimeSpan times;
};

/// The time of record `n` of the section whose payload begins at `payload`.
std::uint64_t time_at(ByteSource& source, std::uint64_t payload, std::uint64_t n) {
    std::uint64_t time = 0;
    source.seek(payload + n * sizeof(abi::Record) + offsetof(abi::Record, time));
    source.read(&time, sizeof time);
    return time;
}

Extent extent_of(ByteSource& source, const SectionPlace& place) {
    Extent extent;
    const std::uint64_t there = std::min(place.size, *source.size() - place.payload);
    if (place.type == abi::SectionType::records && there >= sizeof(abi::Record)) {
        extent.count = there / sizeof(abi::Record);
        extent.times.add(time_at(source, place.payload, 0));
        extent.times.add(time_at(source, place.payload, extent.count - 1));
    } else if (place.type == pack::packed_section && there == place.size) {
        std::array<std::byte, sizeof(pack::BlockHeader)> front;
        source.seek(place.payload);
        const std::size_t got = source.read(front.data(), std::min(there, front.size()));
        if (const auto block = pack::block_front(std::span(front).first(got))) {
            extent = {block->count, block->times};
        }
    }
    return extent;
}

// Where the index is, as the file's last section tells. An `end` may have grown behind the fields
// known here, so it is looked for from the file's end on.
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
            abi::End end{};
            std::memcpy(&end, payload.data(), sizeof end);
            return end.index_offset;
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
    for (; payload.size() >= header.entry_size; payload = payload.subspan(header.entry_size)) {
        abi::IndexEntry& entry = index.entries.emplace_back();
        std::memcpy(&entry, payload.data(), sizeof entry);
        const std::uint64_t before = index.entries.size() < 2 ? 0 : (&entry)[-1].offset;
        if (entry.offset <= before || entry.offset >= index.end) {
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

FileIndex scan_file(ByteSource& source) {
    IndexBuilder builder;
    source.seek(0);
    bool damage = false;
    FileReader reader(source, [&damage](const std::string&) { damage = true; });
    std::uint64_t end = reader.offset();
    while (const std::optional<SectionPlace> place = reader.next_place()) {
        if (damage) {
            builder.add_unknown(end);
            damage = false;
        }
        const Extent extent = extent_of(source, *place);
        builder.add(place->type, place->offset, extent.count, extent.times);
        end = place->end;
        reader.seek(end);
    }
    if (damage) {
        builder.add_unknown(end);
    }
    return {{builder.entries().begin(), builder.entries().end()}, *source.size()};
}

} // namespace mmioscope::trace
