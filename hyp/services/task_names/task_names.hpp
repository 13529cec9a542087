// Records the names of the tasks that make accesses, read from the guest's memory.
#pragma once

#include "abi/ring.hpp"
#include "engine/service.hpp"
#include "task_names/offsets.hpp"
#include "task_names/said_tasks.hpp"

namespace mmioscope {

class TaskNames final : public Service {
public:
    BootError configure(Machine& machine, Setup& setup) override;
    /// Publishes the name of the guest's current task, if it is due.
    void before_access(Cpu& cpu, const Frame& frame, const DeviceAccess& access) override;
    void prepare_fast_path(Cpu& cpu) override;

private:
    void look(Cpu& cpu, const Frame& frame, const DeviceAccess& access, std::uint32_t task,
              std::uint64_t now);

    TaskOffsets offsets_{};
    SaidTasks said_[abi::max_cpus]; ///< by CPU
};

} // namespace mmioscope
