// Opens one kind of transport, and reopens it. The result is always a descriptor, so reading,
// writing and waiting are the same for all kinds (transport.hpp).
#pragma once

#include "system/file_descriptor.hpp"
#include "wire/address.hpp"

#include <chrono>
#include <memory>

namespace mmioscope::wire {

using Patience = std::chrono::milliseconds;

/// The result of opening.
struct Opened {
    FileDescriptor file;   ///< none: not yet, try again
    bool ends = false;     ///< its end is not a loss: a file
    bool writable = false; ///< the other side can receive, too
};

class Opener {
public:
    virtual ~Opener() = default;

    /// Opens, or continues to open, and waits for the other side at most `patience`. The caller
    /// must have closed the previous descriptor. Throws Error if it cannot be opened now.
    virtual Opened open(Patience patience) = 0;
};

/// Opens a serial port, pty, FIFO or file at `path`, whatever exists at the time. `baud` is for a
/// serial port.
std::unique_ptr<Opener> open_path(std::string path, unsigned baud);

/// Connects to a `tcp:` or `unix:` address, or listens there. Resolves a host name immediately,
/// which may take seconds. Throws Error (bad_input).
std::unique_ptr<Opener> open_socket(const Address& address);

} // namespace mmioscope::wire
