// A connection to a socket's address. Connects again whenever the connection is lost.
#pragma once

#include "system/file_descriptor.hpp"
#include "wire/transport.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mmioscope::guest {

class Connection {
public:
    /// `stopping` returns whether the recording should end. Throws Error (bad_input) if there is no
    /// such address.
    Connection(const wire::Address& address, std::function<bool()> stopping);

    /// Waits for the other side. Throws Error: refused (bad_input), or stopped (interrupted).
    FileDescriptor open();

    /// Tries until the other side is there again; if the recording should end, only for some more
    /// seconds. Prints `why` the connection was lost, and when it is back. Throws Error (failed).
    FileDescriptor open_again(const std::string& why);

private:
    FileDescriptor try_again();

    std::string name_;
    std::unique_ptr<wire::Opener> opener_;
    std::function<bool()> stopping_;
};

} // namespace mmioscope::guest
