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
    /// Of `task`, or of another in its place. Tasks are at least 64 bytes apart, most by far more.
    SaidTask& place_of(std::uint32_t task) {
        return places_[(task >> 6 ^ task >> 11 ^ task >> 16) % places];
    }

private:
    static constexpr unsigned places = 64;

    SaidTask places_[places]{};
};

} // namespace mmioscope
