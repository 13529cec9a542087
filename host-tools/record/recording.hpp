// Writes a stream into trace files: one boot after another, with what was lost and why.
#pragma once

#include "record/boot.hpp"
#include "record/parts.hpp"
#include "wire/wire_decoder.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mmioscope::record {

/// Why a recording is over.
struct Stop {
    abi::Ending ending;
    std::string why; ///< a sentence's part; empty if the machine ended by itself
};

class Recording : private wire::WireSink {
public:
    /// Writes to `parts`, which stay the caller's. `report` gets the lines about a boot that is
    /// over while others follow. `own`: these, and the last ones, tell of what the hypervisor did
    /// itself, too.
    Recording(Parts& parts, std::function<void(const std::string& lines)> report, bool own);

    /// The next bytes of the stream. Throws Error: bad_input if they are of a newer version, failed
    /// if the file cannot be written.
    void feed(std::span<const std::byte> bytes) { decoder_.feed(bytes); }

    /// What came beside the stream: the guest's console.
    void console(std::span<const std::byte> text) { parts_.console(text); }

    /// The bytes before and after this are not of one piece.
    void broken_off();

    /// How the boot ended; nothing while it goes on, or before one.
    std::optional<abi::StreamEnd> ended() const;

    /// No more bytes: makes the file whole. Returns the last lines to be said: tables and verdict.
    /// `complete` tells whether all boots are.
    std::string finish(const Stop& stop, bool& complete);

    std::uint64_t events() const {
        return earlier_events_ + (boot_ ? boot_->summary().events() : 0);
    }
    std::uint64_t bytes() const { return decoder_.counts().bytes; }
    double bytes_per_event() const;

private:
    void hello(const wire::StreamHead& head) override;
    void previous_boot(std::span<const std::byte> area) override;
    void records(std::span<const abi::Record> records) override;
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override;

    struct Closing {
        std::string tables;
        std::string verdict; ///< the policy's line and its own, without its end
    };

    Closing close_boot(const Stop& stop);
    std::string doubts(const Stop& stop) const;
    std::string stream_text() const;
    std::string stream_line() const;

    Parts& parts_;
    std::function<void(const std::string&)> report_;
    bool own_;
    std::unique_ptr<Boot> boot_;
    unsigned boots_ = 0;
    unsigned incomplete_boots_ = 0;
    std::uint64_t earlier_events_ = 0; ///< of boots that are over
    wire::WireDecoder decoder_;
};

} // namespace mmioscope::record
