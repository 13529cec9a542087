// Talks to the hypervisor over the stream's wire, or over the socket of the program that records
// it.
#pragma once

#include "control/steering.hpp"
#include "transport/transport.hpp"
#include "wire/wire_decoder.hpp"

#include <chrono>
#include <optional>

namespace mmioscope::control {

class WireChannel : public Channel, private wire::WireSink {
public:
    /// `wire` is open and stays the caller's. A reply is waited for so long; the request is sent
    /// again meanwhile, which the hypervisor carries out once only.
    WireChannel(transport::Transport& wire, std::chrono::milliseconds patience);

    abi::control::Reply ask(const abi::control::Request& request) override;

    /// The board's own description, asked for if it has not come by. Throws Error (failed).
    const wire::StreamHead& head();

private:
    using Clock = std::chrono::steady_clock;

    void hello(const wire::StreamHead& head) override { head_ = head; }
    void records(std::span<const abi::Record>) override {}
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
    void reply(const abi::control::Reply& reply) override { reply_ = reply; }

    void send(const abi::control::Request& request);
    void listen(Clock::time_point until);

    transport::Transport& wire_;
    std::chrono::milliseconds patience_;
    wire::WireDecoder decoder_;
    std::optional<wire::StreamHead> head_;
    std::optional<abi::control::Reply> reply_;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::control
