// Decodes the call before a return address, from the guest's memory.
#pragma once

#include "linux/address_space.hpp"

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

struct Call {
    std::optional<std::uint32_t> target; ///< nothing: a register has it
};

/// The call with the return address `address`, which includes the Thumb bit; nothing if there is no
/// call before it.
std::optional<Call> call_before(const AddressSpace& space, std::uint32_t address);

} // namespace mmioscope::linux_guest
