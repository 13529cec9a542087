// What a recorder adds to a trace of Linux whose RAM it can read: the tasks that records are of,
// and the modules.
#pragma once

#include "lib/recorder.hpp"
#include "linux/kernel_finder.hpp"
#include "linux/module_watch.hpp"
#include "linux/task_watch.hpp"

#include <optional>
#include <span>
#include <vector>

namespace mmioscope::linux_guest {

class Onlooker : public trace::Onlooker {
public:
    /// `frequency`: of the records' time, in Hz.
    Onlooker(const PhysicalMemory& memory, std::uint32_t frequency)
        : frequency_(frequency), finder_(memory) {}

    void see(std::span<const abi::Record> records, trace::FileWriter& file) override;

private:
    void tell(std::span<const abi::Record> records, trace::FileWriter& file);

    std::uint32_t frequency_;
    KernelFinder finder_;
    std::optional<TaskWatch> tasks_;
    std::optional<ModuleWatch> modules_;
    std::vector<trace::TaskEntry> entries_;
};

} // namespace mmioscope::linux_guest
