// Lets `mmioscope ctl` use a wire that another program reads: bytes from the wire also go to all
// clients, and whole requests of each client go to the wire.
#pragma once

#include "control/steering.hpp"
#include "wire/transport.hpp"
#include "wire/wire_decoder.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::control {

class Relay {
public:
    /// Sends bytes to the wire.
    using ToWire = std::function<void(std::span<const std::byte>)>;

    /// Most clients at a time. One more replaces the one that came first.
    static constexpr std::size_t most_clients = 64;

    /// Listens on the unix socket `path`. Throws Error (bad_input) if it cannot.
    Relay(const std::string& path, ToWire to_wire);

    /// Never waits. A client loses the bytes that it does not take.
    void pass(std::span<const std::byte> from_wire);

private:
    struct Client {
        FileDescriptor socket;
        std::vector<std::byte> begun; ///< a part of a request
    };

    void accept();
    bool pass(Client& client, std::span<const std::byte> from_wire);
    void send_requests(Client& client);

    std::unique_ptr<wire::Opener> listener_;
    ToWire to_wire_;
    std::vector<Client> clients_;
};

// Talks to the hypervisor over the stream's wire, or over the socket of the program that records
// it.

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
