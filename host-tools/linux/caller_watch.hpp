// Says whom the functions that make accesses return to, where LR does not say it.
#pragma once

#include "lib/caller_table.hpp"
#include "lib/runs.hpp"
#include "linux/caller_finder.hpp"

#include <array>
#include <span>
#include <vector>

namespace mmioscope::linux_guest {

class CallerWatch {
public:
    CallerWatch(const Kernel& kernel, const symbols::FunctionTable& functions,
                const ModuleWatch& modules)
        : finder_(kernel, functions, modules) {}

    /// Appends to `entries` what LR does not tell of `runs`, which are those of each CPU in its
    /// order, each of one task.
    void see(std::span<const trace::Run> runs, std::vector<trace::CallerEntry>& entries);

private:
    static constexpr std::size_t none = -1;

    void see(const trace::Run& run, std::vector<trace::CallerEntry>& entries);

    std::array<std::size_t, 256> last_; ///< of `entries`, by CPU
    CallerFinder finder_;
};

} // namespace mmioscope::linux_guest
