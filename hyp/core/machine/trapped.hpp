// The access that trapped last.
#pragma once

#include "abi/record.hpp"
#include "arch/instruction.hpp"
#include "machine/access.hpp"
#include "trace/payload.hpp"

namespace mmioscope {

struct Trapped {
    /// Access `n` on the bus of the instruction, which is decoded.
    Beat beat(unsigned n) const {
        if (access.listed) return beats[n];
        return {.va = access.va,
                .pa = access.pa,
                .span = access.span,
                .write = access.write,
                .log2_size = access.log2_size,
                .value = access.value};
    }

    bool cut{};     ///< if access.listed: stage 1 does not map all of it, or not for stores
    bool by_cp15{}; ///< if access.stage1_walk: made for maintenance, or to translate an address
    bool stuck{};   ///< the last step ended in another trap; its instruction was not executed
    DeviceAccess access;         ///< constant while a step is armed
    Beat beats[arch::max_beats]; ///< filled in at the trap, if access.listed
    Owner* last{}; ///< if access.beyond is not 0: whose the last byte is, unless access.listed
    abi::Record record{};         ///< of the first access, without a load's value and the duration
    Payload payload{};            ///< goes behind the access's first record
    std::uint32_t stuck_pc{};     ///< if stuck: where
    PhysicalAddress stuck_pa{};   ///< if stuck: its address
    std::uint32_t retried_pc{};   ///< trap/abort.cpp, retry_fetch(): where,
    unsigned retries{};           ///< how many times in a row,
    std::uint64_t retried_trap{}; ///< and at which trap of this CPU last
};

} // namespace mmioscope
