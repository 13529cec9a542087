// What a recorder that can read the guest's RAM adds to a trace of Linux: tasks, modules and
// callers.
#pragma once

#include "linux/caller_finder.hpp"
#include "linux/kernel_finder.hpp"
#include "linux/module_watch.hpp"
#include "linux/task_watch.hpp"
#include "rings/recorder.hpp"

#include <optional>
#include <span>
#include <vector>

namespace mmioscope::linux_guest {

class Onlooker : public rings::Onlooker {
public:
    /// `frequency` is that of the records' times, in Hz. `functions` are the kernel's, and belong
    /// to the caller. `stacks`: records have some.
    Onlooker(const PhysicalMemory& memory, std::uint32_t frequency,
             const symbols::FunctionTable& functions, bool stacks = false)
        : frequency_(frequency), functions_(functions), stacks_(stacks), finder_(memory) {}

    void see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
             trace::FileWriter& file) override;

private:
    void write(std::span<const abi::Record> records, std::span<const trace::Run> runs,
               trace::FileWriter& file);

    std::uint32_t frequency_;
    const symbols::FunctionTable& functions_;
    bool stacks_;
    std::uint64_t time_ = 0; ///< of the last record
    KernelFinder finder_;
    std::optional<TaskWatch> tasks_;
    std::optional<ModuleWatch> modules_;
    std::optional<CallerFinder> callers_;
    std::vector<trace::TaskEntry> tasks_found_;
};

} // namespace mmioscope::linux_guest
