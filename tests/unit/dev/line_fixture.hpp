// A UART as a line, with a model of the UART.
#pragma once

#include "sim/simulation.hpp"
#include "stream/uart_line.hpp"

#include <memory>
#include <utility>

namespace mmioscope::sim {

template <typename Model>
class LineFixture {
public:
    /// `size`: bytes of its registers.
    LineFixture(const Uart& at, std::uint64_t size, std::unique_ptr<Model> model)
        : uart(model.get()), at_(at) {
        simulation.bus.attach({at.base.value, at.base.value + size}, std::move(model));
    }

    void start(std::uint32_t clock, std::uint32_t baud) {
        at_.clock = clock;
        line_ = UartLine(at_);
        line = &line_.start(baud);
        simulation.complete_system();
    }

    /// Offers increasing bytes until one is refused. Returns the number accepted.
    unsigned fill() {
        unsigned count = 0;
        while (count < 1000 && line->put(static_cast<std::uint8_t>(offered))) {
            ++count;
            ++offered;
            simulation.complete_system();
        }
        return count;
    }

    Simulation simulation{Conditions{}};
    Model* uart{};
    Line* line{};
    unsigned offered{};

private:
    Uart at_;
    UartLine line_;
};

} // namespace mmioscope::sim
