// Lets `mmioscope ctl` use a wire that somebody else reads: what comes over the wire goes to it as
// well, and what it sends goes to the wire. One client at a time; others wait their turn.
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
    /// Takes bytes for the wire.
    using ToWire = std::function<void(std::span<const std::byte>)>;

    /// Listens at the unix socket `path`. Throws Error (bad_input) if that cannot be.
    Relay(const std::string& path, ToWire to_wire);

    /// Never waits. A client that does not take what comes is left out.
    void pass(std::span<const std::byte> from_wire);

private:
    transport::Transport client_;
    ToWire to_wire_;
    std::vector<std::byte> buffer_;
};

} // namespace mmioscope::control
