#include "rings/area.hpp"

#include "rings/shared.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::rings {

namespace {

Error broken(const char* what) {
    return failure("the trace area is damaged: {}", what);
}

} // namespace

bool Area::ready(std::span<const std::byte> memory) {
    if (memory.size() < abi::area_head_size) {
        return false;
    }
    const auto* header = reinterpret_cast<const volatile abi::AreaHeader*>(memory.data());
    if (header->magic != abi::area_magic || header->state == abi::AreaState::starting) {
        return false;
    }
    shared::order();
    return true;
}

// The hypervisor removes the magic before it changes anything else.
std::optional<BootId> Area::boot_in(std::span<const std::byte> memory) {
    if (!ready(memory)) {
        return std::nullopt;
    }
    BootId id;
    const auto* header = reinterpret_cast<const abi::AreaHeader*>(memory.data());
    shared::copy(id.data(), header->boot_id, sizeof id);
    shared::order();
    return ready(memory) ? std::optional(id) : std::nullopt;
}

Area::Area(std::span<std::byte> memory) {
    shared::copy(&header_, memory.data(), sizeof header_);
    if (header_.header_size < sizeof header_) { // an older minor version: missing fields are zero
        auto* bytes = reinterpret_cast<std::byte*>(&header_);
        std::fill(bytes + header_.header_size, bytes + sizeof header_, std::byte{});
    }
    check_header(memory.size());
    read_regions(memory);
    for (unsigned cpu = 0; cpu < header_.cpu_count; ++cpu) {
        add_ring(memory, cpu);
    }
}

void Area::check_header(std::size_t size) const {
    if (header_.version_major != abi::version_major) {
        throw failure(
            "the hypervisor's trace area has version {}.{}; this program reads version {}",
            header_.version_major, header_.version_minor, abi::version_major);
    }
    if (header_.record_size != sizeof(abi::Record) ||
        header_.region_size != sizeof(abi::RegionEntry)) {
        throw broken("wrong size of records");
    }
    if (header_.area_size > size) {
        throw broken("it is larger than its memory");
    }
    if (header_.cpu_count == 0 || header_.cpu_count > abi::max_cpus) {
        throw broken("wrong number of CPUs");
    }
    if (header_.counter_frequency == 0) {
        throw failure("CNTFRQ is 0, so the trace has no times: the boot loader must set it on each "
                      "CPU (U-Boot: COUNTER_FREQUENCY)");
    }
}

void Area::read_regions(std::span<const std::byte> memory) {
    const std::uint64_t bytes = std::uint64_t{header_.region_count} * sizeof(abi::RegionEntry);
    if (header_.region_count > abi::max_regions || header_.regions_offset > abi::area_head_size ||
        bytes > abi::area_head_size - header_.regions_offset) {
        throw broken("the region table is too large");
    }
    if (header_.regions_offset % alignof(abi::RegionEntry) != 0) {
        throw broken("the region table is not aligned");
    }
    regions_.resize(header_.region_count);
    if (regions_.empty()) {
        return;
    }
    shared::copy(regions_.data(), memory.data() + header_.regions_offset,
                 static_cast<std::size_t>(bytes));
}

void Area::add_ring(std::span<std::byte> memory, unsigned cpu) {
    const std::uint64_t offset = header_.ring_offset[cpu];
    const std::uint64_t size = std::min<std::uint64_t>(memory.size(), header_.area_size);
    if (offset % alignof(abi::RingHeader) != 0 || offset + sizeof(abi::RingHeader) > size) {
        throw broken("wrong offset of a ring buffer");
    }
    std::byte* base = memory.data() + offset;
    auto* header = reinterpret_cast<abi::RingHeader*>(base);
    const std::uint64_t capacity = shared::load(header->capacity);
    const std::uint64_t room = (size - offset - sizeof(abi::RingHeader)) / sizeof(abi::Record);
    if (header->magic != abi::ring_magic || header->record_size != sizeof(abi::Record) ||
        capacity == 0 || capacity > room) {
        throw broken("the header of a ring buffer is not valid");
    }
    const auto* records = reinterpret_cast<const abi::Record*>(base + sizeof(abi::RingHeader));
    rings_.push_back({header, records, capacity, shared::load(header->boot_number),
                      header_.area_base + offset + sizeof(abi::RingHeader)});
}

std::vector<abi::Statistics> Area::statistics() const {
    std::vector<abi::Statistics> all;
    for (const Ring& ring : rings_) {
        shared::copy(&all.emplace_back(), &ring.header->statistics, sizeof(abi::Statistics));
    }
    return all;
}

abi::Info Area::info() const {
    abi::Info info{};
    info.counter_frequency = header_.counter_frequency;
    info.cpu_count = header_.cpu_count;
    info.engine = header_.engine;
    info.policy = header_.policy;
    info.record_size = header_.record_size;
    info.region_size = header_.region_size;
    std::copy(std::begin(header_.boot_id), std::end(header_.boot_id), info.boot_id);
    std::copy(std::begin(header_.board), std::end(header_.board), info.board);
    return info;
}

using shared::load;
using shared::store;

namespace {

std::uint64_t head_of(const Ring& ring) {
    const std::uint32_t half_turns = load(ring.header->half_turns);
    return abi::position_of(half_turns, load(ring.header->head));
}

// What the mark says at one moment, or words of two accesses if the CPU goes on meanwhile.
InFlightAccess look(const Ring& ring) {
    const abi::InFlight mark = load(ring.header->in_flight);
    if (mark == abi::InFlight::in_header) {
        return {mark, load(ring.header->in_flight_pc), load(ring.header->in_flight_time),
                load(ring.header->in_flight_pa)};
    }
    const std::uint32_t at = abi::slot_of(mark, ring.address);
    if (!abi::is_slot_mark(mark) || at >= ring.capacity) {
        return {abi::is_slot_mark(mark) ? abi::InFlight::beginning : mark, 0, 0, 0};
    }
    abi::Record slot;
    shared::copy(&slot, &ring.records[at], sizeof slot);
    return {slot.commit == 0 ? mark : abi::InFlight::beginning, slot.pc, slot.time, slot.pa_low};
}

} // namespace

// Between two looks that agree the CPU has not gone on: a later access has another time.
InFlightAccess in_flight(const Ring& ring) {
    const InFlightAccess access = look(ring);
    shared::order();
    const bool gone_on = abi::has_begun(access.state) && look(ring) != access;
    return gone_on ? InFlightAccess{abi::InFlight::beginning, 0, 0, 0} : access;
}

RingReader::RingReader(const Ring& ring, abi::Policy policy, unsigned reader)
    : ring_(ring), reader_(&ring.header->readers[reader]),
      overwrites_(policy == abi::Policy::flight) {
    const std::uint64_t head = load_head();
    tail_ = load(reader_->active) != 0 ? load(reader_->tail) : head;
    if (tail_ > head) { // impossible
        tail_ = head > ring_.capacity ? head - ring_.capacity : 0;
    }
    if (tail_ > 0) {
        abi::Record before;
        shared::copy(&before, &ring_.records[(tail_ - 1) % ring_.capacity], sizeof before);
        time_before_ = before.time;
    }
    store(reader_->tail, tail_);
    store(reader_->active, std::uint32_t{1});
}

void RingReader::leave() {
    store(reader_->active, std::uint32_t{0});
}

// The number first: the records that it covers are then below the head.
void RingReader::stop() {
    next_sequence_ = load(ring_.header->next_sequence);
    end_ = load_head();
}

std::uint64_t RingReader::lost() const {
    return load(ring_.header->lost);
}

// The writer stores `others` first: if the record is counted below, it is so above.
std::pair<std::uint32_t, std::uint32_t> RingReader::numbered() const {
    const std::uint32_t others = load(ring_.header->others);
    return {load(ring_.header->next_sequence), others};
}

std::uint64_t RingReader::load_head() const {
    return std::min(head_of(ring_), end_);
}

std::uint64_t RingReader::drain(std::vector<abi::Record>& out) {
    const std::uint64_t head = load_head();
    if (head - tail_ > ring_.capacity) {
        tail_ = head - ring_.capacity; // overwritten before they were read
    }
    const std::size_t first = out.size();
    copy(head, out);
    const std::uint64_t overtaken = drop_overtaken(out, first);
    const std::uint64_t damaged = drop_damaged(out, first, tail_ + overtaken);
    if (head != tail_) {
        tail_ = head;
        store(reader_->tail, tail_);
    }
    return damaged;
}

// Copies in pieces that end at the ring's end, and are short: from about 4 KiB on, memmove() uses
// REP MOVSB, and instruction counters count each of its bytes.
void RingReader::copy(std::uint64_t to, std::vector<abi::Record>& out) const {
    constexpr std::uint64_t piece = 60;
    for (std::uint64_t at = tail_; at < to;) {
        const std::uint64_t slot = at % ring_.capacity;
        const std::uint64_t n = std::min({to - at, ring_.capacity - slot, piece});
        shared::append(out, {ring_.records + slot, static_cast<std::size_t>(n)});
        at += n;
    }
}

// Removes from out[first..] what the writer may have overwritten during the copy, which is possible
// only with Policy::flight: records at the start. Looks at their commit words again, since the head
// does not tell how far a group goes that is being written. Returns their number.
std::uint64_t RingReader::drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const {
    shared::order();
    const auto overtaken = [this](std::uint64_t position) {
        std::uint32_t commit = 0;
        shared::copy(&commit, &ring_.records[position % ring_.capacity].commit, sizeof commit);
        return commit != abi::commit_word(ring_.boot_number, position);
    };
    std::uint64_t n = 0;
    while (overwrites_ && n < out.size() - first && overtaken(tail_ + n)) {
        ++n;
    }
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    out.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
    return n;
}

// Removes from out[first..], the copy from `position` on, records that do not belong at their
// position: somebody else wrote into the ring. Returns their number.
std::uint64_t RingReader::drop_damaged(std::vector<abi::Record>& out, std::size_t first,
                                       std::uint64_t position) const {
    std::uint32_t commit = abi::commit_word(ring_.boot_number, position) - 1;
    const auto damaged =
        std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                       [&commit](const abi::Record& record) { return record.commit != ++commit; });
    const auto n = static_cast<std::uint64_t>(out.end() - damaged);
    out.erase(damaged, out.end());
    return n;
}

} // namespace mmioscope::rings
