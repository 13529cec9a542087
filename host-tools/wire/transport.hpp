// A wire that carries bytes: reads, writes, and reopens it after a loss. No function waits longer
// than it is told to, so the caller can check for Ctrl-C.
#pragma once

#include "system/file_descriptor.hpp"
#include "wire/address.hpp"

#include <libserialport.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

// A transport that is reopened after a loss, with growing delays, until the user ends it.

class Link {
public:
    using Say = std::function<void(const std::string& line)>;

    /// Reads from `transport`, which belongs to the caller and is open or being opened. Calls `say`
    /// when it is lost and when it is back. Without `reconnect` a loss is the end.
    Link(Transport& transport, bool reconnect, Say say);

    /// The bytes that have arrived; empty after about `patience` without any. Valid until the next
    /// read. Throws Error if a file can no longer be read.
    std::span<const std::byte> read(Patience patience);

    /// Whether nothing more will come.
    bool over() const { return over_; }
    /// Why, if the other side was lost; otherwise empty.
    const std::string& why() const { return why_; }

    /// How often the stream was interrupted so far: bytes before and after that are not contiguous.
    unsigned breaks() const { return breaks_; }

private:
    using Clock = std::chrono::steady_clock;

    void lose(const std::string& why);
    void reopen(Patience patience);

    Transport& transport_;
    bool reconnect_;
    Say say_;
    std::vector<std::byte> buffer_;
    bool over_ = false;
    std::string why_;
    unsigned breaks_ = 0;
    Patience delay_{0}; ///< before the next try
    Clock::time_point next_try_;
};

// A serial port, through libserialport: raw, 8 bits, no parity, one stop bit, no flow control.

class SerialPort {
public:
    /// Opens `path` at `baud`, any rate that the hardware supports. Throws Error (bad_input) that
    /// names both.
    SerialPort(const std::string& path, unsigned baud);

    /// Another descriptor of the open port, non-blocking.
    FileDescriptor descriptor() const;

private:
    struct Close {
        void operator()(sp_port* port) const;
    };
    std::unique_ptr<sp_port, Close> port_;
};

} // namespace mmioscope::wire
