// The stream as a service: its UART, its options, and when it works.
#pragma once

#include "engine/service.hpp"
#include "stream/options.hpp"
#include "stream/paced_line.hpp"
#include "stream/shared_line.hpp"
#include "stream/stream.hpp"
#include "stream/uart_line.hpp"

namespace mmioscope {

class StreamService final : public Service, public AccessHooks {
public:
    constexpr StreamService(Stream& stream, RequestHandler& handler)
        : stream_(stream), handler_(handler) {}

    /// Withholds the stream's UART from the guest, unless they share it.
    BootError configure(Machine& machine, Setup& setup) override;
    BootError start(Machine& machine, const Setup& setup) override;
    /// An access to the data register of a UART that is shared: what it sends may need a mark.
    std::optional<Outcome> before(Cpu& cpu, Frame& frame) override;
    void work(Cpu& cpu) override;
    bool work_needs_all(const Cpu& cpu) const override;
    bool may_sleep(Cpu& cpu) override;
    void end(Cpu& cpu, MachineEnd how) override;

    /// Carries out the next request that came in over the line, if there is one, and gives the
    /// reply to the stream. One request at most, and one CPU at a time. The caller holds no region
    /// lock and has no step armed.
    void serve_line(Cpu& cpu);

private:
    BootError take_uart(Machine& machine, Setup& setup);
    BootError share_uart(Machine& machine, const Uart& uart);
    std::optional<std::uint8_t> byte_sent(const Cpu& cpu, const Frame& frame) const;
    void end_store(Cpu& cpu);

    Stream& stream_;
    RequestHandler& handler_;
    StreamOptions options_;
    UartLine uart_;
    Range data_register_; ///< of a UART that is shared
    PacedLine paced_line_;
    SharedLine shared_line_; ///< on top of paced_line_, if the UART is also the console
    /// Each in a cache line of its own: all CPUs count.
    struct alignas(64) Turns {
        std::uint8_t without_look{}; ///< since the last look for requests
    };
    Turns turns_[abi::max_cpus];
};

} // namespace mmioscope
