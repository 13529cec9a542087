#include "rings/merge.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::rings {

namespace {

bool earlier_in_lock(const abi::Record& a, const abi::Record& b) {
    return a.device == b.device && a.device != abi::no_device &&
           static_cast<std::int32_t>(a.lock_sequence - b.lock_sequence) < 0;
}

// Records with an estimated time need not be. Called for all of them: the compiler unrolls the loop
// of std::all_of(), but not that of std::is_sorted().
bool in_order(const std::vector<abi::Record>& records) {
    std::uint64_t last = 0;
    return std::all_of(records.begin(), records.end(), [&last](const abi::Record& record) {
        return record.time >= std::exchange(last, record.time);
    });
}

} // namespace

void Merge::push(unsigned cpu, std::vector<abi::Record>&& records) {
    Queue& queue = queues_[cpu];
    if (!records.empty()) {
        queue.bound = std::max(queue.bound, records.back().time);
    }
    if (queue.fresh.empty()) {
        queue.fresh.swap(records);
    } else {
        queue.fresh.insert(queue.fresh.end(), records.begin(), records.end());
        records.clear();
    }
    queue.fresh_in_order = in_order(queue.fresh);
}

void Merge::set_bound(unsigned cpu, std::uint64_t time, bool idle) {
    queues_[cpu].bound = std::max(queues_[cpu].bound, time);
    queues_[cpu].idle = idle;
}

// If a record is earlier than everything that others have or may still publish, so may be those
// after it: take them without asking the others again.
void Merge::emit(std::vector<abi::Record>& out) {
    for (Queue* queue = choose(); queue != nullptr && may_leave(*queue, queue->time());
         queue = choose()) {
        queue->move_to(std::min(first_of_others(*queue), bound_of_others(*queue)), out);
    }
    for (Queue& queue : queues_) {
        queue.end_pass();
    }
}

bool Merge::empty() const {
    return std::ranges::all_of(queues_, [](const Queue& queue) { return queue.empty(); });
}

void Merge::flush(std::vector<abi::Record>& out) {
    while (Queue* queue = choose()) {
        queue->move_to(first_of_others(*queue), out);
    }
}

std::uint64_t Merge::Queue::time() const {
    return std::max(at(next).time, left);
}

// The first one leaves in any case. Those after it leave, if they are earlier than `limit`, in
// pieces so short that memmove() uses its fast path (area.cpp).
void Merge::Queue::move_to(std::uint64_t limit, std::vector<abi::Record>& out) {
    constexpr std::size_t most = 60;
    do {
        const bool is_old = next < old.size();
        const std::span<const abi::Record> rest =
            is_old ? std::span(old).subspan(next) : std::span(fresh).subspan(next - old.size());
        std::span<const abi::Record> piece = rest.first(1);
        if ((is_old ? old_in_order : fresh_in_order) && time() < limit) {
            piece = rest.first(std::min(most, rest.size()));
            if (piece.back().time >= limit) {
                piece = {piece.begin(),
                         std::ranges::lower_bound(piece, limit, {}, &abi::Record::time)};
            }
        }
        out.insert(out.end(), piece.begin(), piece.end());
        left = std::max(left, piece.back().time);
        next += piece.size();
    } while (!empty() && time() < limit);
}

// Usually all old ones have left by now, so those of this pass need not be moved.
void Merge::Queue::end_pass() {
    if (next >= old.size()) {
        next -= old.size();
        old.swap(fresh);
        old_in_order = fresh_in_order;
    } else {
        // Many records may wait for long: do not check them again.
        old_in_order = old_in_order && fresh_in_order &&
                       (fresh.empty() || old.back().time <= fresh.front().time);
        old.erase(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(next));
        old.insert(old.end(), fresh.begin(), fresh.end());
        next = 0;
    }
    fresh.clear();
    fresh_in_order = true;
    idle = false;
}

bool Merge::may_leave(const Queue& queue, std::uint64_t time) const {
    const bool old = queue.next < queue.old.size();
    return std::ranges::all_of(queues_, [&](const Queue& other) {
        return &other == &queue || time < other.bound || (time == other.bound && other.idle && old);
    });
}

std::uint64_t Merge::first_of_others(const Queue& queue) const {
    std::uint64_t first = UINT64_MAX;
    for (const Queue& other : queues_) {
        if (&other != &queue && !other.empty()) {
            first = std::min(first, other.time());
        }
    }
    return first;
}

std::uint64_t Merge::bound_of_others(const Queue& queue) const {
    std::uint64_t bound = UINT64_MAX;
    for (const Queue& other : queues_) {
        if (&other != &queue) {
            bound = std::min(bound, other.bound);
        }
    }
    return bound;
}

// The queue with the next record; null if all are empty.
Merge::Queue* Merge::choose() {
    Queue* best = nullptr;
    std::uint64_t time = 0;
    bool tied = false;
    for (Queue& queue : queues_) {
        if (queue.empty()) {
            continue;
        }
        const std::uint64_t its = queue.time();
        tied = best != nullptr && (its == time || (tied && its > time));
        if (best == nullptr || its < time) {
            best = &queue;
            time = its;
        }
    }
    return tied ? choose_tied(best, time) : best;
}

// Chooses among those whose first record has `time`; `first` has the lowest CPU.
Merge::Queue* Merge::choose_tied(Queue* first, std::uint64_t time) {
    for (Queue& queue : queues_) {
        if (!queue.empty() && queue.time() == time && !blocked(queue, time)) {
            return &queue;
        }
    }
    return first;
}

// True if another CPU has a record of the same time and region with an earlier place.
bool Merge::blocked(const Queue& candidate, std::uint64_t time) const {
    const abi::Record& first = candidate.at(candidate.next);
    return std::ranges::any_of(queues_, [&](const Queue& other) {
        bool found = false;
        for (std::size_t i = other.next;
             !found && &other != &candidate && i < other.size() && other.at(i).time <= time; ++i) {
            found = earlier_in_lock(other.at(i), first);
        }
        return found;
    });
}

OrderedRings::OrderedRings(const Area& area, unsigned reader) : merge_(area.header().cpu_count) {
    for (const Ring& ring : area.rings()) {
        rings_.emplace_back(ring, area.header().policy, reader);
        missed_ = std::max(missed_, rings_.back().time_before());
    }
}

// The bound of a CPU follows from its in-flight slot, which must be read before its head:
//   none       everything begun is below the head, and what begins now is later than all that any
//              CPU had published before, that is, than all of the earlier passes
//   begun      the next record has that time
//   beginning  the time is unknown yet: only the CPU's last record bounds it (Merge::push)
std::size_t OrderedRings::pass(std::vector<abi::Record>& ordered) {
    std::size_t count = 0;
    std::uint64_t latest = latest_;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        drained_.clear();
        damaged_ += rings_[cpu].drain(drained_);
        count += drained_.size();
        if (missed_ > 0) {
            std::erase_if(drained_, [this](const abi::Record& r) { return r.time <= missed_; });
        }
        latest = drained_.empty() ? latest : std::max(latest, drained_.back().time);
        merge_.push(cpu, std::move(drained_));
        if (access.state == abi::InFlight::none) {
            merge_.set_bound(cpu, latest_, true);
        } else if (abi::has_begun(access.state)) {
            merge_.set_bound(cpu, access.time, false);
        }
    }
    latest_ = latest;
    merge_.emit(ordered);
    return count;
}

void OrderedRings::stop() {
    for (RingReader& ring : rings_) {
        ring.stop();
    }
}

void OrderedRings::leave() {
    for (RingReader& ring : rings_) {
        ring.leave();
    }
}

std::vector<trace::UnfinishedAccess> OrderedRings::unfinished() const {
    std::vector<trace::UnfinishedAccess> accesses;
    for (unsigned cpu = 0; cpu < rings_.size(); ++cpu) {
        const InFlightAccess access = rings_[cpu].in_flight();
        if (abi::has_begun(access.state)) {
            accesses.push_back({cpu, access.pc, access.pa, access.time});
        }
    }
    return accesses;
}

} // namespace mmioscope::rings
