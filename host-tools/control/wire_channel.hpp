// Talks to the hypervisor over the stream's wire, or over the socket of the program that records
// it.
#pragma once

#include "control/steering.hpp"
#include "wire/transport.hpp"
#include "wire/wire_decoder.hpp"

#include <chrono>
#include <optional>

namespace mmioscope::control {

class WireChannel : public Channel, private wire::WireSink {
public:
    /// `wire` is open and belongs to the caller. Waits up to `patience` for a reply, and meanwhile
    /// sends the request again; the hypervisor carries it out only once.
    WireChannel(wire::Transport& wire, std::chrono::milliseconds patience);

    abi::control::Reply ask(const abi::control::Request& request) override;

    /// The board's description. Asks for it if it has not arrived. Throws Error (failed).
    const wire::StreamHead& head();

private:
    using Clock = std::chrono::steady_clock;

    void hello(const wire::StreamHead& head) override { head_ = head; }
    void records(std::span<const abi::Record>) override {}
    void end(const abi::EndHeader&, std::span<const abi::Statistics>) override {}
    void reply(const abi::control::Reply& reply) override { reply_ = reply; }

    void send(const abi::control::Request& request);
    void listen(Clock::time_point until);

    wire::Transport& wire_;
    std::chrono::milliseconds patience_;
    wire::WireDecoder decoder_;
    std::optional<wire::StreamHead> head_;
    std::optional<abi::control::Reply> reply_;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::control
