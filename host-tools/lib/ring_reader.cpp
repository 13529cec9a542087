#include "lib/ring_reader.hpp"

#include <algorithm>
#include <atomic>

namespace mmioscope::trace {

namespace {

template <typename T>
T load(T& shared) {
    return std::atomic_ref<T>(shared).load(std::memory_order_acquire);
}

template <typename T>
void store(T& shared, T value) {
    std::atomic_ref<T>(shared).store(value, std::memory_order_release);
}

} // namespace

RingReader::RingReader(const Ring& ring, abi::Policy policy)
    : ring_(ring), overwrites_(policy == abi::Policy::flight) {
    store(ring_.header->readers[abi::host_reader].tail, std::uint64_t{0});
    store(ring_.header->readers[abi::host_reader].active, std::uint32_t{1});
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
    return load(ring_.header->head);
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
        store(ring_.header->readers[abi::host_reader].tail, tail_);
    }
    return damaged;
}

// At most two pieces: up to the end of the ring, and from its start.
void RingReader::copy(std::uint64_t to, std::vector<abi::Record>& out) const {
    for (std::uint64_t at = tail_; at < to;) {
        const std::uint64_t slot = at % ring_.capacity;
        const std::uint64_t n = std::min(to - at, ring_.capacity - slot);
        out.insert(out.end(), ring_.records + slot, ring_.records + slot + n);
        at += n;
    }
}

// Removes from out[first..] what is not the record of its position: the writer overtook the
// copying (possible with Policy::flight only), or somebody wrote into the ring (damage).
std::uint64_t RingReader::drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t head = overwrites_ ? load_head() : 0;
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
