// Interrupts that a CPU acknowledged and never ended. docs/sharing.md defines it.
#pragma once

#include "mmioscope/event.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace mmioscope::analysis {

/// Whether this read of a GIC (GICC_IAR or GICC_AIAR, IHI 0048B 4.4) gave the CPU an interrupt.
bool acknowledges_interrupt(const Event& event);

class OpenInterrupts {
public:
    /// An interrupt was never ended: the read that acknowledged it.
    using Take = std::function<void(const Event& acknowledge)>;

    explicit OpenInterrupts(Take take) : take_(std::move(take)) {}

    /// The next record. Returns whether it acknowledges an interrupt.
    bool add(const Event& event);
    /// What comes does not follow from what came: accesses were lost.
    void cut();
    /// The trace is over.
    void finish();

private:
    struct Open {
        Event acknowledge;
        bool left = false; ///< the CPU has gone on with something else
    };
    /// More nested ones than this are forgotten.
    static constexpr std::size_t most_nested = 16;

    void acknowledge(const Event& event);
    void end(const abi::Record& record);
    void power(const abi::Record& record);

    Take take_;
    std::array<std::vector<Open>, 256> open_; ///< by CPU, the innermost last
};

} // namespace mmioscope::analysis
