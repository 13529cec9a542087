#include "machine/black_box.hpp"

#include "abi/description.hpp"
#include "base/crc32.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"

#include <cstring>

namespace mmioscope {

namespace {

abi::AreaHeader& header_at(std::uint8_t* area) {
    return *reinterpret_cast<abi::AreaHeader*>(area);
}

abi::RingHeader& ring_at(std::uint8_t* area, std::uint32_t offset) {
    return *reinterpret_cast<abi::RingHeader*>(area + offset);
}

abi::Record* records_of(abi::RingHeader& ring) {
    return reinterpret_cast<abi::Record*>(&ring + 1);
}

/// Laid out as this boot's area will be: then what is to be kept and where it goes do not overlap.
bool laid_out_alike(const abi::AreaHeader& old, Range where, const AreaLayout& layout,
                    unsigned cpus) {
    bool alike = old.version_major == abi::version_major &&
                 old.version_minor == abi::version_minor && old.header_size == sizeof old &&
                 old.area_base == where.begin && old.area_size == where.size() &&
                 old.record_size == sizeof(abi::Record) &&
                 old.region_size == sizeof(abi::RegionEntry) && old.regions_offset == sizeof old &&
                 old.cpu_count == cpus && old.kept_offset == layout.kept_offset;
    for (unsigned i = 0; alike && i < cpus; ++i)
        alike = old.ring_offset[i] == layout.ring_offset(i);
    return alike;
}

bool sound(std::uint8_t* area, const AreaLayout& layout, unsigned cpus) {
    const abi::AreaHeader& old = header_at(area);
    if (old.region_count > abi::max_regions || old.state == abi::AreaState::starting ||
        description_crc(old) != old.description_crc)
        return false;
    for (unsigned i = 0; i < cpus; ++i) {
        const abi::RingHeader& ring = ring_at(area, old.ring_offset[i]);
        if (ring.magic != abi::ring_magic || ring.capacity != layout.capacity() || ring.cpu != i ||
            ring.record_size != sizeof(abi::Record))
            return false;
    }
    return true;
}

/// The last records, at their positions. One that is not whole leaves its slot empty, and readers
/// count it: its commit word is missing.
void keep_records(abi::RingHeader& from, abi::RingHeader& to) {
    const std::uint64_t head = from.head;
    const std::uint64_t available = head < from.capacity ? head : from.capacity;
    const std::uint64_t count = available < abi::kept_records ? available : abi::kept_records;
    std::uint64_t slot = (head - count) % from.capacity;
    for (std::uint64_t at = head - count; at != head; ++at) {
        const abi::Record& record = records_of(from)[slot];
        if (record.commit == static_cast<std::uint32_t>(at + 1))
            records_of(to)[at % abi::kept_records] = record;
        if (++slot == from.capacity) slot = 0;
    }
}

void keep_ring(abi::RingHeader& from, abi::RingHeader& to) {
    to = from;
    to.capacity = abi::kept_records;
    std::memset(to.readers, 0, sizeof to.readers);
    keep_records(from, to);
}

/// The words that say how to read the rest come last.
void keep_head(const abi::AreaHeader& old, const AreaLayout& layout, abi::AreaHeader& kept) {
    kept = old;
    kept.magic = 0;
    kept.area_base = old.area_base + layout.kept_offset;
    kept.area_size = layout.kept_size;
    kept.kept = abi::Kept::none;
    kept.kept_offset = kept.kept_size = 0;
    const AreaLayout small(layout.kept_size, old.cpu_count);
    for (unsigned i = 0; i < old.cpu_count; ++i)
        kept.ring_offset[i] = static_cast<std::uint32_t>(small.ring_offset(i));
    std::memcpy(&kept + 1, &old + 1, old.region_count * sizeof(abi::RegionEntry));
    kept.description_crc = description_crc(kept);
    port::complete_system();
    kept.magic = abi::area_magic;
}

} // namespace

std::uint32_t description_crc(const abi::AreaHeader& area) {
    return abi::description_crc(
        area, reinterpret_cast<const abi::RegionEntry*>(&area + 1),
        [](const void* bytes, std::size_t size, std::uint32_t before) {
            return crc32_end(
                crc32_more(crc32_end(before), static_cast<const std::uint8_t*>(bytes), size));
        });
}

abi::Kept keep_previous_boot(Range where, const AreaLayout& layout, unsigned cpus) {
    if (layout.kept_offset == 0) return abi::Kept::no_room;
    auto* bytes = port::memory_at<std::uint8_t>({where.begin});
    const abi::AreaHeader& old = header_at(bytes);
    if (old.magic != abi::area_magic) return abi::Kept::none;
    if (!laid_out_alike(old, where, layout, cpus)) return abi::Kept::other_layout;
    if (!sound(bytes, layout, cpus)) return abi::Kept::damaged;
    std::uint8_t* place = bytes + layout.kept_offset;
    std::memset(place, 0, static_cast<std::size_t>(layout.kept_size));
    keep_head(old, layout, header_at(place));
    for (unsigned i = 0; i < cpus; ++i)
        keep_ring(ring_at(bytes, old.ring_offset[i]),
                  ring_at(place, header_at(place).ring_offset[i]));
    return abi::Kept::kept;
}

} // namespace mmioscope
