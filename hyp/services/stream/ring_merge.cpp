#include "stream/ring_merge.hpp"

#include "abi/payload.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "reading/in_flight.hpp"

namespace mmioscope {

namespace {

constexpr std::uint64_t nothing_to_come = ~std::uint64_t{0};

} // namespace

void RingMerge::start(abi::AreaHeader& area) {
    auto* bytes = reinterpret_cast<std::uint8_t*>(&area);
    count_ = area.cpu_count;
    patience_ = area.counter_frequency; // a second
    flight_ = area.policy == abi::Policy::flight;
    closed_ = false;
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
        auto* header = reinterpret_cast<abi::RingHeader*>(bytes + area.ring_offset[cpu]);
        start_ring(cpu, *header);
        rings_[cpu].reader = &header->readers[abi::drain_reader];
        port::store_shared(rings_[cpu].reader->active, 1);
    }
}

void RingMerge::start_kept(const abi::AreaHeader& area) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&area);
    count_ = area.cpu_count;
    flight_ = false;
    closed_ = true;
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
        start_ring(cpu, *reinterpret_cast<const abi::RingHeader*>(bytes + area.ring_offset[cpu]));
        Ring& ring = rings_[cpu];
        ring.head = ring.end = abi::position_of(*ring.header);
        ring.tail = ring.head - (ring.head < ring.capacity ? ring.head : ring.capacity);
        ring.slot = static_cast<std::uint32_t>(ring.tail % ring.capacity);
        ring.time = ring.slots[ring.slot].time;
    }
}

void RingMerge::start_ring(unsigned cpu, const abi::RingHeader& header) {
    rings_[cpu] = {};
    rings_[cpu].header = &header;
    rings_[cpu].slots = reinterpret_cast<const abi::Record*>(&header + 1);
    rings_[cpu].capacity = static_cast<std::uint32_t>(header.capacity);
    rings_[cpu].boot_number = header.boot_number;
    rings_[cpu].end = ~std::uint64_t{0};
}

std::uint64_t RingMerge::earliest_to_come(const Ring& ring) const {
    if (closed_) return nothing_to_come;
    const std::uint64_t now = port::read<reg::CNTPCT>();
    port::synchronize_context(); // the clock first, then the slot: what is begun later is later
    port::order_memory();
    const abi::InFlight mark = port::load_shared(ring.header->in_flight);
    if (mark == abi::InFlight::none) return now;
    if (!abi::has_begun(mark)) return ring.time; // not known yet: no earlier than the last one
    port::order_memory(); // the mark, then its time: not that of an access long ago
    const std::uint64_t begun = begun_at(ring, mark);
    return now - begun < patience_ ? begun : now;
}

/// The time of the access whose mark is `mark`. If it has ended meanwhile, its record is below the
/// head, which is read later; then this may be any time.
std::uint64_t RingMerge::begun_at(const Ring& ring, abi::InFlight mark) {
    if (!abi::is_slot_mark(mark)) return port::load_shared(ring.header->in_flight_time);
    const abi::Record* const slot = marked_slot(*ring.header, ring.capacity, mark);
    return slot != nullptr ? port::load_shared(slot->time) : ring.time;
}

/// The number of records that the CPU of `ring` has published.
std::uint64_t RingMerge::published(const Ring& ring) {
    const auto tail = static_cast<std::uint32_t>(ring.tail);
    return ring.tail + (port::load_shared(ring.header->head) - tail);
}

/// Finds out whether `ring` has a record, and sets its time, or the earliest time of the next one.
bool RingMerge::look(Ring& ring) const {
    const std::uint64_t bound = earliest_to_come(ring);
    port::order_memory(); // the slot, then the head
    const std::uint64_t head = published(ring);
    ring.head = head < ring.end ? head : ring.end;
    port::order_memory(); // the head, then what is below it
    if (flight_) skip_overwritten(ring);
    if (ring.tail >= ring.head) {
        ring.time = bound;
        return false;
    }
    const std::uint64_t time = port::load_shared(ring.slots[ring.slot].time);
    if (flight_ && overwritten(ring)) return false; // what is left is no earlier than the last one
    ring.time = time;
    return true;
}

/// Whether a later record replaces the next one, or is about to.
bool RingMerge::overwritten(const Ring& ring) {
    port::order_memory(); // what was read there, then whose it was
    return port::load_shared(ring.slots[ring.slot].commit) !=
           abi::commit_word(ring.boot_number, ring.tail);
}

/// Skips to half a ring behind the writer, so that it does not catch up again at once.
void RingMerge::skip_overwritten(Ring& ring) const {
    if (ring.head - ring.tail < ring.capacity) return;
    ring.tail = ring.head - ring.capacity / 2;
    ring.slot = static_cast<std::uint32_t>(ring.tail % ring.capacity);
}

bool RingMerge::take(Ring& ring, abi::Record& out) {
    const abi::Record& from = ring.slots[ring.slot];
    port::load_structure(out, from);
    port::order_memory(); // the record, then the slot is given back, or its commit word asked
    const std::uint64_t position = ring.tail++;
    if (++ring.slot == ring.capacity) ring.slot = 0;
    const bool whole = out.commit == abi::commit_word(ring.boot_number, position) &&
                       port::load_shared(from.commit) == out.commit;
    if (ring.reader != nullptr) port::store_shared(ring.reader->tail, ring.tail);
    if (ring.tail < ring.head && !flight_)
        ring.time = port::load_shared(ring.slots[ring.slot].time);
    const bool taken = whole || (!flight_ && ring.reader != nullptr);
    group_ = taken && abi::goes_on(out) ? &ring : nullptr;
    return taken;
}

/// The next piece of the group whose last record was taken, if it is there: a group is below the
/// head together, but under `flight` it may be overwritten meanwhile.
[[gnu::noinline]] bool RingMerge::take_piece(abi::Record& out) {
    Ring& ring = *group_;
    group_ = nullptr;
    return ring.tail < ring.head &&
           port::load_shared(ring.slots[ring.slot].type) == abi::RecordType::payload &&
           take(ring, out);
}

/// For records of one region at the same time, the order of its lock decides. If a later record
/// has replaced one of them meanwhile, that one is first: take() will not take it, and next() looks
/// again.
bool RingMerge::before(const Ring& a, const Ring& b) const {
    if (a.time != b.time) return a.time < b.time;
    const abi::Record& one = a.slots[a.slot];
    const abi::Record& other = b.slots[b.slot];
    const bool first = one.device == other.device &&
                       static_cast<std::int32_t>(one.lock_sequence - other.lock_sequence) < 0;
    if (!flight_) return first;
    return overwritten(a) || (first && !overwritten(b));
}

// A record leaves when no ring has an earlier one, or can still get one. What a look has shown
// stays valid: this looks again only if a ring without a record may have an earlier one by now.
bool RingMerge::next(abi::Record& out, bool may_look) {
    if (group_ != nullptr && take_piece(out)) return true;
    constexpr unsigned tries = 4; // against a writer that overtakes
    for (unsigned i = 0; i < tries; ++i) {
        Ring* first = nullptr;
        std::uint64_t bound = nothing_to_come;
        for (unsigned cpu = 0; cpu < count_; ++cpu) {
            Ring& ring = rings_[cpu];
            if (!is_known(ring)) bound = ring.time < bound ? ring.time : bound;
            else if (first == nullptr || before(ring, *first)) first = &ring;
        }
        if (!is_certain(first, bound) && !(may_look && look_at_all(first))) return false;
        if (take(*first, out)) return true;
    }
    return false;
}

/// Whether no ring can have a record before `first`. If nothing is to come, a record may have any
/// time: the previous boot's guest may have written it.
bool RingMerge::is_certain(const Ring* first, std::uint64_t bound) const {
    return first != nullptr && (first->time < bound || bound == nothing_to_come);
}

/// False: no record's place in the order is known. Otherwise `first` has the next one.
bool RingMerge::look_at_all(Ring*& first) {
    std::uint64_t bound = nothing_to_come;
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
        Ring& ring = rings_[cpu];
        if (is_known(ring)) continue;
        if (!look(ring)) bound = ring.time < bound ? ring.time : bound;
        else if (first == nullptr || before(ring, *first)) first = &ring;
    }
    return is_certain(first, bound);
}

/// Records published from now on may have any time.
void RingMerge::forget_bounds() {
    for (unsigned cpu = 0; cpu < count_; ++cpu)
        if (!is_known(rings_[cpu])) rings_[cpu].time = 0;
}

void RingMerge::close() {
    closed_ = true;
    forget_bounds();
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
        Ring& ring = rings_[cpu];
        // The number first: what it covers is then below the head. If a CPU publishes meanwhile,
        // another end follows.
        ring.others = port::load_shared(ring.header->others);
        ring.next_sequence = port::load_shared(ring.header->next_sequence);
        port::order_memory();
        ring.end = published(ring);
    }
}

void RingMerge::reopen() {
    closed_ = false;
    forget_bounds();
    for (unsigned cpu = 0; cpu < count_; ++cpu) rings_[cpu].end = ~std::uint64_t{0};
}

bool RingMerge::others_in_access(std::uint32_t cpu) const {
    for (unsigned n = 0; n < count_; ++n)
        if (n != cpu && port::load_shared(rings_[n].header->in_flight) != abi::InFlight::none)
            return true;
    return false;
}

std::optional<abi::UnfinishedAccess> RingMerge::unfinished(unsigned cpu) const {
    const auto mark = read_in_flight(*rings_[cpu].header, rings_[cpu].capacity);
    if (!mark || !abi::has_begun(mark->state)) return std::nullopt;
    return abi::UnfinishedAccess{cpu, mark->pc, mark->pa, mark->time};
}

bool RingMerge::empty() const {
    for (unsigned cpu = 0; cpu < count_; ++cpu) {
        const Ring& ring = rings_[cpu];
        const std::uint64_t head = published(ring);
        if (ring.tail < (head < ring.end ? head : ring.end)) return false;
    }
    return true;
}

} // namespace mmioscope
