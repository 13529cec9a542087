// Keeps the hypervisor's UARTs running on a board whose clock controller is known. A guest may
// switch them off: for it they are disabled.
//
// A store that would clear such a bit, which is set, is told of by a record. Hyp does the store
// itself, with the bit set, if it can (can_emulate()); otherwise the UART stops.
#pragma once

#include "base/fixed_vector.hpp"
#include "engine/reexecution.hpp"
#include "engine/service.hpp"

namespace mmioscope {

/// The bit of a clock controller's register without which a UART of the hypervisor's stops.
struct KeptBit {
    PhysicalAddress address; ///< of the register
    std::uint16_t region{};  ///< the UART's
    std::uint8_t bit{};
};
using KeptBits = FixedVector<KeptBit, 4>;

/// Before the core's engines.
class KeepingEngine final : public Engine {
public:
    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override {
        return end_step(cpu, frame, hsr);
    }

    KeptBits bits;
};

class Keeping final : public Service {
public:
    /// The last one that does: the others have withheld their UARTs.
    BootError configure(Machine& machine, Setup& setup) override;
    BootError start(Machine& machine, const Setup& setup) override;

private:
    KeepingEngine engine_;
};

} // namespace mmioscope
