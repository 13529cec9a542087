// A whole machine whose trace leaves through the guest's UART.
#pragma once

#include "sim/pl011.hpp"
#include "sim/rig.hpp"
#include "unit/stream/wire.hpp"

namespace mmioscope::sim {

class StreamingRig : public Rig {
public:
    explicit StreamingRig(RigOptions options) : Rig(with_stream(std::move(options))) {
        auto device = std::make_unique<Pl011Model>();
        uart = device.get();
        simulation.bus.attach({at::console, at::console + 0x1000}, std::move(device));
    }

    /// Calls `then` for each instruction of CPU 0 with the number of bytes sent until the next one,
    /// and the address of that.
    void watch(std::function<void(std::size_t bytes, std::uint32_t pc)> then) {
        simulation.meanwhile = [this, then = std::move(then)](const Core& core) {
            if (core.number != 0) return;
            simulation.complete_system(); // all writes have arrived
            then(uart->sent.size() - sent_before_, core.frame.pc);
            sent_before_ = uart->sent.size();
        };
    }

    Pl011Model* uart{};

private:
    static RigOptions with_stream(RigOptions options) {
        options.tree.stream = "serial0";
        return options;
    }

    std::size_t sent_before_{};
};

} // namespace mmioscope::sim
