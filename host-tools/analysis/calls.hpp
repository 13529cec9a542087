// What the calls of probed functions took: how often, how long, and with how many accesses.
#pragma once

#include "analysis/analyses.hpp"
#include "analysis/loop.hpp"
#include "filter/filter.hpp"
#include "reading/drive.hpp"
#include "records/returns.hpp"
#include "system/capped_map.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::analysis {

/// What makes a row.
enum class CallsBy {
    function,
    caller, ///< a function and where it was called
    task,   ///< a function and the task
    tree,   ///< the probed functions that were open, the outermost first
};

/// The table has at most `most` rows, 0: all; those that took most time first, a tree in its own
/// order.
std::unique_ptr<Analysis> make_calls(CallsBy by, std::size_t most);

// Only the events between the calls of some functions and their returns.

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
