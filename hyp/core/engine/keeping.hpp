// Keeps the hypervisor's UARTs running on a board whose clock controller is known
// (board/board.hpp, UartBits). A guest may switch them off: for it they are disabled.
//
// A store that would clear such a bit, which is set, is told of by a record. Hyp does the store
// itself, with the bit set, if it can (can_emulate()); otherwise the UART stops.
#pragma once

#include "engine/emulation.hpp"

namespace mmioscope {

class KeepingEngine final : public Engine {
public:
    constexpr explicit KeepingEngine(Engine& otherwise) : otherwise_(otherwise) {}

    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override {
        return otherwise_.finish(cpu, frame, hsr);
    }

private:
    Engine& otherwise_;
};

} // namespace mmioscope
