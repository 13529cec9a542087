// A wire that carries bytes: reads, writes, and reopens it after a loss. No function waits longer
// than it is told to, so the caller can check for Ctrl-C.
#pragma once

#include "system/file_descriptor.hpp"
#include "wire/address.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mmioscope::wire {

// Opens one kind of transport, and reopens it. The result is always a descriptor, so reading,
// writing and waiting are the same for all kinds (transport.hpp).

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

/// The result of a read.
enum class Outcome {
    bytes,   ///< some have arrived
    nothing, ///< none in this time; the wire is fine
    lost,    ///< the other side is gone; all its bytes were read. Reopen
    end      ///< the end of a file
};

struct ReadResult {
    Outcome outcome;
    std::size_t size = 0; ///< bytes, with Outcome::bytes
    std::string why = {}; ///< with Outcome::lost: part of a sentence
};

class Transport {
public:
    Transport(std::string name, std::unique_ptr<Opener> opener);

    /// Opens, after closing what was open; waits for the other side at most `patience`. False: not
    /// yet, try again. Throws Error if it cannot be opened now.
    bool open(Patience patience);
    bool is_open() const { return static_cast<bool>(opened_.file); }

    /// Reads available bytes, and waits at most `patience` for the first one. Closes the transport
    /// when it is lost or at its end. Throws Error (failed) if a file can no longer be read.
    ReadResult read(std::span<std::byte> to, Patience patience);

    /// Writes `bytes`, and waits at most `patience`. Returns the number written. Throws Error
    /// (bad_input) if the other side cannot receive. The caller must ignore SIGPIPE.
    std::size_t write(std::span<const std::byte> bytes, Patience patience);

    const std::string& name() const { return name_; } ///< as the user wrote it

private:
    ReadResult lost(const std::string& why);

    std::string name_;
    std::unique_ptr<Opener> opener_;
    Opened opened_;
};

/// The transport at `address`, not open yet. `baud` is for a serial port. Throws Error (bad_input)
/// if a host name is unknown; resolving it may take seconds.
Transport make_transport(const Address& address, unsigned baud);

} // namespace mmioscope::wire
