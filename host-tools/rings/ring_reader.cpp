#include "rings/ring_reader.hpp"

#include "rings/shared.hpp"

#include <algorithm>

namespace mmioscope::rings {

using shared::load;
using shared::store;

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

InFlightAccess RingReader::in_flight() const {
    const abi::InFlight state = load(ring_.header->in_flight);
    return {state, load(ring_.header->in_flight_pc), load(ring_.header->in_flight_time),
            load(ring_.header->in_flight_pa)};
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
    return std::min(load(ring_.header->head), end_);
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
// only with Policy::flight: records at the start. Checks after copying. Returns their number.
std::uint64_t RingReader::drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const {
    shared::order();
    const std::uint64_t head = overwrites_ ? load(ring_.header->head) : 0;
    if (head < tail_ + ring_.capacity) {
        return 0;
    }
    const std::uint64_t n =
        std::min(head - ring_.capacity - tail_ + 1, std::uint64_t{out.size() - first});
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
