// A wire that carries bytes: reads, writes, and opens it again after it was lost. No function waits
// longer than it is told to, so the caller can check for Ctrl-C.
#pragma once

#include "transport/address.hpp"
#include "transport/opener.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mmioscope::transport {

/// What became of a read.
enum class Outcome {
    bytes,   ///< some have come
    nothing, ///< none within the time; the wire is all right
    lost,    ///< the other side has gone; all that it sent was read. Open again
    end      ///< a file's end
};

struct ReadResult {
    Outcome outcome;
    std::size_t size = 0; ///< bytes, with Outcome::bytes
    std::string why = {}; ///< with Outcome::lost: a sentence's part
};

class Transport {
public:
    Transport(std::string name, std::unique_ptr<Opener> opener);

    /// Opens, after closing what was open; waits for the other side at most `patience`. False: not
    /// yet, ask again. Throws Error if it cannot be opened as things are now.
    bool open(Patience patience);
    bool is_open() const { return static_cast<bool>(opened_.file); }

    /// Reads what there is, waiting at most `patience` for the first byte. Closes what is lost or
    /// at its end. Throws Error (failed) if a file cannot be read on.
    ReadResult read(std::span<std::byte> to, Patience patience);

    /// Writes `bytes`, waiting at most `patience`. Returns how many were taken. Throws Error
    /// (bad_input) if nobody hears at the other side. The caller ignores SIGPIPE.
    std::size_t write(std::span<const std::byte> bytes, Patience patience);

    const std::string& name() const { return name_; } ///< as the user wrote it

private:
    ReadResult lost(const std::string& why);

    std::string name_;
    std::unique_ptr<Opener> opener_;
    Opened opened_;
};

/// The transport at `address`, not open yet. `baud` is for a serial port. Throws Error (bad_input)
/// if a host's name is unknown; looking for it may take seconds.
Transport make_transport(const Address& address, unsigned baud);

} // namespace mmioscope::transport
