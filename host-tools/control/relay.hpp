// Lets `mmioscope ctl` use a wire that another program reads: bytes from the wire also go to all
// clients, and whole requests of each client go to the wire.
#pragma once

#include "wire/opener.hpp"

#include <cstddef>
#include <functional>
#include <memory>
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

} // namespace mmioscope::control
