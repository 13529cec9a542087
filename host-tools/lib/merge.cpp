#include "lib/merge.hpp"

#include <algorithm>

namespace mmioscope::trace {

namespace {

bool earlier_in_lock(const abi::Record& a, const abi::Record& b) {
    return a.device == b.device && a.device != abi::no_device &&
           static_cast<std::int32_t>(a.lock_sequence - b.lock_sequence) < 0;
}

} // namespace

void Merge::push(unsigned cpu, std::span<const abi::Record> records) {
    Queue& queue = queues_[cpu];
    queue.records.insert(queue.records.end(), records.begin(), records.end());
    if (!records.empty()) {
        queue.bound = std::max(queue.bound, records.back().time);
    }
}

void Merge::set_bound(unsigned cpu, std::uint64_t time, bool idle) {
    queues_[cpu].bound = std::max(queues_[cpu].bound, time);
    queues_[cpu].idle = idle;
}

void Merge::emit(std::vector<abi::Record>& out) {
    for (Queue* queue = choose(); queue != nullptr && may_leave(*queue, time_of(*queue));
         queue = choose()) {
        take(*queue, out);
    }
    for (Queue& queue : queues_) {
        const auto left = queue.records.begin() + static_cast<std::ptrdiff_t>(queue.next);
        queue.records.erase(queue.records.begin(), left);
        queue.next = 0;
        queue.old = queue.records.size();
        queue.idle = false;
    }
}

bool Merge::empty() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const Queue& queue) { return queue.next == queue.records.size(); });
}

void Merge::flush(std::vector<abi::Record>& out) {
    while (Queue* queue = choose()) {
        take(*queue, out);
    }
}

void Merge::take(Queue& queue, std::vector<abi::Record>& out) {
    queue.left = time_of(queue);
    out.push_back(queue.records[queue.next++]);
}

bool Merge::may_leave(const Queue& queue, std::uint64_t time) const {
    const bool old = queue.next < queue.old;
    return std::all_of(queues_.begin(), queues_.end(), [&](const Queue& other) {
        return &other == &queue || time < other.bound || (time == other.bound && other.idle && old);
    });
}

// The order of one CPU's records holds whatever their times say.
std::uint64_t Merge::time_of(const Queue& queue) {
    return std::max(queue.records[queue.next].time, queue.left);
}

// The queue whose first record comes next; null if all are empty.
Merge::Queue* Merge::choose() {
    Queue* best = nullptr;
    bool tied = false;
    for (Queue& queue : queues_) {
        if (queue.next == queue.records.size()) {
            continue;
        }
        const std::uint64_t time = time_of(queue);
        tied = best != nullptr && (time == time_of(*best) || (tied && time > time_of(*best)));
        best = best == nullptr || time < time_of(*best) ? &queue : best;
    }
    if (!tied) {
        return best;
    }
    const std::uint64_t time = time_of(*best);
    for (Queue& queue : queues_) {
        if (queue.next < queue.records.size() && time_of(queue) == time && !blocked(queue, time)) {
            return &queue;
        }
    }
    return best;
}

// True if another CPU has a record of the same time and region that holds an earlier place.
bool Merge::blocked(const Queue& candidate, std::uint64_t time) const {
    const abi::Record& first = candidate.records[candidate.next];
    return std::any_of(queues_.begin(), queues_.end(), [&](const Queue& other) {
        bool found = false;
        for (std::size_t i = other.next; !found && &other != &candidate &&
                                         i < other.records.size() && other.records[i].time <= time;
             ++i) {
            found = earlier_in_lock(other.records[i], first);
        }
        return found;
    });
}

} // namespace mmioscope::trace
