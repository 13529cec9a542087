// Opens one kind of transport, and opens it again. The result is always a descriptor, so reading,
// writing and waiting are the same for all kinds (transport.hpp).
#pragma once

#include "system/file_descriptor.hpp"
#include "transport/address.hpp"

#include <chrono>
#include <memory>

namespace mmioscope::transport {

using Patience = std::chrono::milliseconds;

/// What was opened.
struct Opened {
    FileDescriptor file;   ///< none: not yet, ask again
    bool ends = false;     ///< its end is the end, not a loss: a file
    bool writable = false; ///< the other side hears, too
};

class Opener {
public:
    virtual ~Opener() = default;

    /// Opens, or goes on opening, waiting for the other side at most `patience`. The caller has
    /// closed what was opened before. Throws Error if it cannot be opened as things are now.
    virtual Opened open(Patience patience) = 0;
};

/// Opens a serial port, pty, FIFO or file at `path`, whatever is there at the time. `baud` is for a
/// serial port.
std::unique_ptr<Opener> open_path(std::string path, unsigned baud);

/// Connects to a `tcp:` or `unix:` address, or listens there. Resolves a host's name at once, which
/// may take seconds. Throws Error (bad_input).
std::unique_ptr<Opener> open_socket(const Address& address);

} // namespace mmioscope::transport
