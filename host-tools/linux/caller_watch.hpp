// Says whom the functions that make accesses return to, where LR does not say it.
#pragma once

#include "lib/caller_table.hpp"
#include "linux/caller_finder.hpp"

#include <span>
#include <vector>

namespace mmioscope::linux_guest {

class CallerWatch {
public:
    CallerWatch(const Kernel& kernel, const symbols::FunctionTable& functions,
                const ModuleWatch& modules)
        : finder_(kernel, functions, modules) {}

    /// Appends to `entries` what LR does not tell of `records`, which are those of each CPU in its
    /// order.
    void see(std::span<const abi::Record> records, std::vector<trace::CallerEntry>& entries);

private:
    CallerFinder finder_;
};

} // namespace mmioscope::linux_guest
