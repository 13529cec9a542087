// One instruction that the guest re-executes: what is armed, and what must be restored.
#pragma once

#include "abi/record.hpp"
#include "arch/hsr.hpp"
#include "arch/instruction.hpp"
#include "arch/lpae.hpp"
#include "machine/access.hpp"
#include "trace/region_lock.hpp"

namespace mmioscope {

class RegionMap;

struct Step {
    bool armed{};
    DeviceAccess access;
    Beat beats[arch::max_beats]; ///< filled in at the trap, if access.listed
    abi::Record record{};        ///< of the first access, without a load's value and the duration
    std::uint32_t next_pc{};     ///< address of the breakpoint
    std::uint32_t masks{};       ///< the guest's CPSR.A, I and F
    lpae::Descriptor* opened{};  ///< `unprotect` only: the page that is open to all CPUs
    bool stuck{}; ///< the last step ended in another trap; its instruction was not executed
};

/// The regions that `access` reaches; `step.beats` has the accesses if it is listed.
RegionSet regions_of(const Step& step, const DeviceAccess& access);
/// Whether one of its accesses reaches a traced device.
bool reaches_traced(const RegionMap& map, const Step& step, const DeviceAccess& access);

} // namespace mmioscope
