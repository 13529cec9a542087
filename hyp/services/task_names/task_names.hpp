// Records the names of the tasks that make accesses, read from the guest's memory.
#pragma once

#include "abi/ring.hpp"
#include "engine/service.hpp"
#include "task_names/offsets.hpp"
#include "task_names/said_tasks.hpp"

namespace mmioscope {

class TaskNames final : public Service, public DeviceOps {
public:
    constexpr TaskNames() : DeviceOps(true) {}

    BootError configure(Machine& machine, Setup& setup) override;
    /// Before an access that is recorded, publishes the name of its task, if it is due.
    bool before(Cpu& cpu, Frame& frame) override;
    Outcome step(Cpu& cpu, Frame& frame) override { return next_->step(cpu, frame); }
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override {
        return next_->finish(cpu, frame, hsr);
    }
    void prepare_fast_path(Cpu& cpu) override;

private:
    void look(Cpu& cpu, const Frame& frame, const DeviceAccess& access, std::uint32_t task,
              std::uint64_t now);

    DeviceOps* next_{};
    TaskOffsets offsets_{};
    SaidTasks said_[abi::max_cpus]; ///< by CPU
};

} // namespace mmioscope
