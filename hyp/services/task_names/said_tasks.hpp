// The task names that this CPU has written to the trace, as far as it remembers: one task may
// replace another here, whose name is then written again.
#pragma once

#include "abi/task_name.hpp"

namespace mmioscope {

struct SaidTask {
    std::uint32_t task;        ///< its address; 0: none
    bool said;                 ///< `name` was written, at `said_at`
    std::uint64_t said_at;     ///< CNTPCT
    std::uint64_t next_lookup; ///< CNTPCT; no look before that time
    abi::TaskName name;
};

class SaidTasks {
public:
    /// Whether `task` need not be looked at yet.
    bool knows(std::uint32_t task, std::uint64_t now) const {
        const SaidTask& place = places_[index_of(task)];
        return place.task == task && now < place.next_lookup;
    }
    /// The place of `task`, which may hold another task. Tasks are at least 64 bytes apart, most of
    /// them by far more.
    SaidTask& place_of(std::uint32_t task) { return places_[index_of(task)]; }

private:
    static constexpr unsigned places = 64;
    static unsigned index_of(std::uint32_t task) {
        return (task >> 6 ^ task >> 11 ^ task >> 16) % places;
    }

    SaidTask places_[places]{};
};

} // namespace mmioscope
