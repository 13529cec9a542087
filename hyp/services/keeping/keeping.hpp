// Keeps the hypervisor's UARTs running on a board whose clock controller is known. A guest may
// switch them off: for it they are disabled.
//
// A store that would clear such a bit, which is set, is told of by a record. Hyp does the store
// itself, with the bit set, if it can (can_emulate()); otherwise the UART stops.
#pragma once

#include "base/fixed_vector.hpp"
#include "engine/service.hpp"

namespace mmioscope {

/// The bit of a clock controller's register without which a UART of the hypervisor's stops.
struct KeptBit {
    PhysicalAddress address; ///< of the register
    std::uint16_t region{};  ///< the UART's
    std::uint8_t bit{};
};
using KeptBits = FixedVector<KeptBit, 4>;

class Keeping final : public Service, public AccessHooks {
public:
    /// The last one that does: the others have withheld their UARTs.
    BootError configure(Machine& machine, Setup& setup) override;
    /// An access to a register with such a bit.
    std::optional<Outcome> before(Cpu& cpu, Frame& frame) override;

private:
    KeptBits bits_;
};

} // namespace mmioscope
