// What this CPU has said its guest's tasks are called, as far as it remembers: a task that takes
// another's place here is said anew.
#pragma once

#include "abi/task_name.hpp"

namespace mmioscope {

struct SaidTask {
    std::uint32_t task;      ///< its address; 0: none
    bool said;               ///< `name` has been told, at `said_at`
    std::uint64_t said_at;   ///< CNTPCT
    std::uint64_t next_look; ///< nobody looks before
    abi::TaskName name;
};

class SaidTasks {
public:
    /// Nobody needs to look at `task` yet.
    bool knows(std::uint32_t task, std::uint64_t now) const {
        const SaidTask& place = places_[index_of(task)];
        return place.task == task && now < place.next_look;
    }
    /// Of `task`, or of another in its place. Tasks are at least 64 bytes apart, most by far more.
    SaidTask& place_of(std::uint32_t task) { return places_[index_of(task)]; }

private:
    static constexpr unsigned places = 64;
    static unsigned index_of(std::uint32_t task) {
        return (task >> 6 ^ task >> 11 ^ task >> 16) % places;
    }

    SaidTask places_[places]{};
};

} // namespace mmioscope
