// One instruction re-executed by the guest: what is armed, and what must be put back.
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
    Beat beats[arch::max_beats]; ///< filled at the trap if access.listed
    abi::Record record{};        ///< of the first access: all but value and duration of a load
    std::uint32_t next_pc{};     ///< where the breakpoint is
    std::uint32_t masks{};       ///< the guest's CPSR.A, I and F
    lpae::Descriptor* opened{}; ///< the page that is open to all CPUs; `unprotect` only
    bool stuck{}; ///< the last step ended in another trap, its instruction not executed
};

/// The regions `access` reaches; `step.beats` tells if it is listed.
RegionSet regions_of(const Step& step, const DeviceAccess& access);
/// Whether one of its accesses is to a traced device.
bool reaches_traced(const RegionMap& map, const Step& step, const DeviceAccess& access);

} // namespace mmioscope
