#include "black_box/black_box.hpp"

#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "reading/in_flight.hpp"
#include "start/area.hpp"

#include <cstring>

namespace mmioscope {

namespace {

/// What is kept, as Hyp itself knows it. A guest may write to the area (mmioscope,guest-reader), so
/// nothing there decides an address, a size or a count.
struct Source {
    AreaLayout layout; ///< of the area
    unsigned cpus;
    std::uint32_t regions; ///< at most abi::max_regions
    bool in_use;           ///< the CPUs go on, and may overwrite a record meanwhile
};

abi::AreaHeader& header_at(std::uint8_t* area) {
    return *reinterpret_cast<abi::AreaHeader*>(area);
}

abi::RingHeader& ring_at(std::uint8_t* area, std::uint64_t offset) {
    return *reinterpret_cast<abi::RingHeader*>(area + offset);
}

abi::Record* records_of(abi::RingHeader& ring) {
    return reinterpret_cast<abi::Record*>(&ring + 1);
}
const abi::Record* records_of(const abi::RingHeader& ring) {
    return reinterpret_cast<const abi::Record*>(&ring + 1);
}

/// Whether the old area has the layout of this boot's area: then the records to keep and their new
/// place do not overlap.
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

/// `regions`: the number of regions that the old header claims.
bool sound(std::uint8_t* area, const AreaLayout& layout, unsigned cpus, std::uint32_t regions) {
    const abi::AreaHeader& old = header_at(area);
    if (regions > abi::max_regions || old.state == abi::AreaState::starting ||
        description_crc(old, regions) != old.description_crc)
        return false;
    for (unsigned i = 0; i < cpus; ++i) {
        const abi::RingHeader& ring = ring_at(area, layout.ring_offset(i));
        if (ring.magic != abi::ring_magic || ring.capacity != layout.capacity() || ring.cpu != i ||
            ring.record_size != sizeof(abi::Record))
            return false;
    }
    return true;
}

/// Copies the last records before `head` to their positions. A record that is not complete, or that
/// this ring's CPU cannot have written, leaves its slot empty; readers count it, because its commit
/// word is missing.
void keep_records(const abi::RingHeader& from, abi::RingHeader& to, std::uint64_t head,
                  unsigned cpu, const Source& what) {
    const std::uint64_t capacity = what.layout.capacity();
    const std::uint64_t available = head < capacity ? head : capacity;
    const std::uint64_t count = available < abi::kept_records ? available : abi::kept_records;
    std::uint64_t slot = (head - count) % capacity;
    for (std::uint64_t at = head - count; at != head; ++at) {
        abi::Record& kept = records_of(to)[at % abi::kept_records];
        const abi::Record& record = records_of(from)[slot];
        if (record.commit == abi::commit_word(from.boot_number, at)) kept = record;
        if (kept.cpu != cpu) kept = {}; // the stream's coder indexes by it
        port::order_memory();           // the record, then whether it was overwritten meanwhile
        if (what.in_use && port::load_shared(record.commit) != kept.commit) kept.commit = 0;
        if (++slot == capacity) slot = 0;
    }
}

/// What a CPU is doing, or was when it stopped; nothing, if it is too quick. The copy's mark refers
/// to its header: the slot at the head is not kept.
void keep_in_flight(const abi::RingHeader& from, abi::RingHeader& to, std::uint64_t capacity) {
    constexpr unsigned tries = 4;
    for (unsigned i = 0; i < tries; ++i)
        if (const auto mark = read_in_flight(from, capacity)) {
            to.in_flight = abi::has_begun(mark->state) ? abi::InFlight::in_header : mark->state;
            to.in_flight_time = mark->time;
            to.in_flight_pc = mark->pc;
            to.in_flight_pa = mark->pa;
            return;
        }
    to.in_flight = abi::InFlight::none;
}

void keep_ring(const abi::RingHeader& from, abi::RingHeader& to, unsigned cpu, const Source& what) {
    to = from;
    to.capacity = abi::kept_records;
    std::memset(to.readers, 0, sizeof to.readers);
    keep_in_flight(from, to, what.layout.capacity());
    port::order_memory(); // the mark before the head: an access that ends meanwhile is below it
    const std::uint64_t head = load_head(from); // once: the guest may write to both
    abi::set_position(to, head);
    keep_records(from, to, head, cpu, what);
}

void keep_head(const abi::AreaHeader& from, abi::AreaHeader& kept, const AreaLayout& small,
               const Source& what) {
    kept = from;
    kept.magic = 0;
    kept.area_base = from.area_base + what.layout.kept_offset;
    kept.area_size = what.layout.kept_size;
    kept.kept = abi::Kept::none;
    kept.kept_offset = kept.kept_size = 0;
    kept.cpu_count = what.cpus;
    kept.region_count = what.regions;
    for (unsigned i = 0; i < what.cpus; ++i)
        kept.ring_offset[i] = static_cast<std::uint32_t>(small.ring_offset(i));
    std::memcpy(&kept + 1, &from + 1, what.regions * sizeof(abi::RegionEntry));
    kept.description_crc = description_crc(kept, what.regions);
}

/// Keeps the end of the area at `bytes`. Readers do not see the copy before it is complete.
void keep(std::uint8_t* bytes, const Source& what) {
    std::uint8_t* place = bytes + what.layout.kept_offset;
    const AreaLayout small(what.layout.kept_size, what.cpus);
    port::store_shared(header_at(place).magic, 0);
    port::complete_system();
    std::memset(place, 0, static_cast<std::size_t>(what.layout.kept_size));
    keep_head(header_at(bytes), header_at(place), small, what);
    for (unsigned i = 0; i < what.cpus; ++i)
        keep_ring(ring_at(bytes, what.layout.ring_offset(i)), ring_at(place, small.ring_offset(i)),
                  i, what);
    port::complete_system();
    port::store_shared(header_at(place).magic, abi::area_magic);
}

AreaLayout layout_of(const Machine& machine) {
    return AreaLayout(machine.image.area.size(), machine.cpu_count);
}

} // namespace

abi::Kept keep_previous_boot(Range where, const AreaLayout& layout, unsigned cpus) {
    if (layout.kept_offset == 0) return abi::Kept::no_room;
    auto* bytes = port::memory_at<std::uint8_t>({where.begin});
    const abi::AreaHeader& old = header_at(bytes);
    const std::uint32_t regions = old.region_count;
    if (old.magic != abi::area_magic) return abi::Kept::none;
    if (!laid_out_alike(old, where, layout, cpus)) return abi::Kept::other_layout;
    if (!sound(bytes, layout, cpus, regions)) return abi::Kept::damaged;
    keep(bytes, {layout, cpus, regions, false});
    return abi::Kept::kept;
}

bool can_keep(const Machine& machine) {
    return layout_of(machine).kept_offset != 0;
}

// The checksum covers `kept`, which the first snapshot changes. A reader that comes between the two
// stores finds the area damaged.
void keep_snapshot(Machine& machine) {
    abi::AreaHeader& area = *machine.area;
    const auto regions = static_cast<std::uint32_t>(machine.regions.size());
    keep(reinterpret_cast<std::uint8_t*>(&area),
         {layout_of(machine), machine.cpu_count, regions, true});
    if (area.kept == abi::Kept::kept) return;
    area.kept = abi::Kept::kept;
    area.description_crc = description_crc(area, regions);
    port::complete_system();
}

} // namespace mmioscope
