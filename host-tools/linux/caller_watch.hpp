// Says whom the functions that make accesses return to, where LR does not say it.
#pragma once

#include "lib/callers.hpp"
#include "lib/runs.hpp"
#include "linux/caller_finder.hpp"

#include <span>
#include <vector>

namespace mmioscope::linux_guest {

class CallerWatch {
public:
    CallerWatch(const Kernel& kernel, const symbols::FunctionTable& functions,
                const ModuleWatch& modules)
        : finder_(kernel, functions, modules) {}

    /// Of each record of `runs`, which lie behind one another, those of each CPU in its order, each
    /// of one task. Nothing, where LR holds for all. It holds until the next call.
    std::span<const trace::Caller> see(std::span<const trace::Run> runs);

private:
    bool see(const trace::Run& run, trace::Caller* callers);

    std::vector<trace::Caller> callers_;
    CallerFinder finder_;
};

} // namespace mmioscope::linux_guest
