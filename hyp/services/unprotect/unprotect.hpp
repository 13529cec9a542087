// The baseline, which works like tracers with one table for all CPUs (Linux mmiotrace): it opens
// the page in the normal table for the length of the step. What other CPUs access there meanwhile
// is carried out but not recorded. Events are lost without notice. It exists only to measure the
// other engines against.
//
// As in those tracers, no lock is held during the step, and one trapped instruction makes one
// record. An instruction that reaches a second page that traps is refused.
#pragma once

#include "engine/service.hpp"

namespace mmioscope {

class Unprotect final : public Service, public DeviceOps {
public:
    DeviceOps* engine(abi::EngineKind kind) override {
        return kind == abi::EngineKind::unprotect ? this : nullptr;
    }
    bool add_to_tables(Machine& machine) override;
    Outcome step(Cpu& cpu, Frame& frame) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;

private:
    lpae::Descriptor* opened_[abi::max_cpus]{}; ///< each CPU's, in a step
};

} // namespace mmioscope
