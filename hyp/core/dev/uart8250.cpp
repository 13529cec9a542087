#include "dev/uart8250.hpp"

#include "dev/uart8250_registers.hpp"

namespace mmioscope {

using namespace uart8250;

namespace {
/// At 115,200 baud a FIFO of 64 characters takes 5.6 ms; a register read takes at least 10 ns.
constexpr unsigned max_polls = 1'000'000;
} // namespace

void Uart8250::start() {
    bus_.write(address(at_, line_control), lcr_8bit, at_.log2_width);
    bus_.write(address(at_, interrupts), 0, at_.log2_width);
    bus_.write(address(at_, fifo_control), fcr_on_and_clear, at_.log2_width);
    bus_.write(address(at_, modem_control), mcr_ready, at_.log2_width);
}

void Uart8250::put(char c) {
    for (unsigned i = 0;
         (bus_.read(address(at_, line_status), at_.log2_width) & lsr_thr_empty) == 0; ++i)
        if (i == max_polls) return;
    bus_.write(address(at_, data), static_cast<unsigned char>(c), at_.log2_width);
}

} // namespace mmioscope
