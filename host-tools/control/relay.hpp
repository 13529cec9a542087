// Lets `mmioscope ctl` use a wire that another program reads: bytes from the wire also go to ctl,
// and bytes from ctl go to the wire. Serves one client at a time; others wait.
#pragma once

#include "transport/transport.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::control {

class Relay {
public:
    /// Sends bytes to the wire.
    using ToWire = std::function<void(std::span<const std::byte>)>;

    /// Listens on the unix socket `path`. Throws Error (bad_input) if it cannot.
    Relay(const std::string& path, ToWire to_wire);

    /// Never waits. A client loses the bytes that it does not take.
    void pass(std::span<const std::byte> from_wire);

private:
    transport::Transport client_;
    ToWire to_wire_;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::control
