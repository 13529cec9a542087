// Only the events between the calls of some functions and their returns.
#pragma once

#include "analysis/threads.hpp"
#include "filter/filter.hpp"
#include "records/open_calls.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::analysis {

class During {
public:
    /// `function`: as in a filter, `func==...`. Throws Error (bad_input) if it cannot be one.
    explicit During(const std::string& function);

    /// Those of `events` that a task made while such a call of its was open, with the calls and
    /// returns themselves; not what interrupts did. Valid until the next call.
    std::span<const Event> inside(std::span<const Event> events);

private:
    struct Call {
        std::uint32_t pc, lr, sp;
        Thread thread;
        bool inside;
    };
    bool is_inside(const Event& event);
    bool calls(const Event& event);
    bool returns(const abi::Record& record);

    filter::Filter begins_;
    Threads threads_;
    trace::OpenCalls<Call> open_;
    std::vector<Event> inside_;
};

} // namespace mmioscope::analysis
