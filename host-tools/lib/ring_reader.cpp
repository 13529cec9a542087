#include "lib/ring_reader.hpp"

#include "lib/shared.hpp"

#include <algorithm>

namespace mmioscope::trace {

using shared::load;
using shared::store;

RingReader::RingReader(const Ring& ring, abi::Policy policy, unsigned reader)
    : ring_(ring), reader_(&ring.header->readers[reader]),
      overwrites_(policy == abi::Policy::flight) {
    const std::uint64_t head = load_head();
    tail_ = load(reader_->active) != 0 ? load(reader_->tail) : head;
    if (tail_ > head) { // nobody's word
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

// The number first: what it covers is then below the head.
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

std::uint64_t RingReader::load_head() const {
    return std::min(load(ring_.header->head), end_);
}

std::uint64_t RingReader::drain(std::vector<abi::Record>& out) {
    const std::uint64_t head = load_head();
    if (head - tail_ > ring_.capacity) {
        tail_ = head - ring_.capacity; // overwritten before they could be read
    }
    const std::size_t first = out.size();
    copy(head, out);
    const std::uint64_t damaged = drop_overtaken(out, first);
    if (head != tail_) {
        tail_ = head;
        store(reader_->tail, tail_);
    }
    return damaged;
}

// At most two pieces: up to the end of the ring, and from its start.
void RingReader::copy(std::uint64_t to, std::vector<abi::Record>& out) const {
    for (std::uint64_t at = tail_; at < to;) {
        const std::uint64_t slot = at % ring_.capacity;
        const auto n = static_cast<std::size_t>(std::min(to - at, ring_.capacity - slot));
        const std::size_t before = out.size();
        out.resize(before + n);
        shared::copy(out.data() + before, ring_.records + slot, n * sizeof(abi::Record));
        at += n;
    }
}

// Removes from out[first..] what is not the record of its position: the writer overtook the
// copying (possible with Policy::flight only), or somebody wrote into the ring (damage).
std::uint64_t RingReader::drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const {
    shared::order();
    const std::uint64_t head = overwrites_ ? load(ring_.header->head) : 0;
    std::uint64_t damaged = 0;
    std::size_t kept = first;
    for (std::size_t i = first; i < out.size(); ++i) {
        const std::uint64_t position = tail_ + (i - first);
        const bool overtaken = overwrites_ && position + ring_.capacity <= head;
        const bool right = out[i].commit == static_cast<std::uint32_t>(position + 1);
        damaged += !overtaken && !right ? 1 : 0;
        if (!overtaken && right) {
            if (kept != i) {
                out[kept] = out[i];
            }
            ++kept;
        }
    }
    out.resize(kept);
    return damaged;
}

} // namespace mmioscope::trace
