// Writes a stream into trace files, one boot after another, with the losses and their causes.
#pragma once

#include "record/boot.hpp"
#include "record/parts.hpp"
#include "wire/capture.hpp"
#include "wire/wire_decoder.hpp"

#include <functional>
#include <memory>
#include <string>

namespace mmioscope::record {

/// Why a recording ended.
struct Stop {
    abi::Ending ending;
    std::string why; ///< part of a sentence; empty if the machine ended by itself
};

class Recording : private wire::WireSink {
public:
    /// Writes to `parts`, which belong to the caller. `report` gets the lines about each boot that
    /// another one follows. `own`: these lines, and the last ones, include the hypervisor's own
    /// accesses. `width`: of tables (view::fitted_text()).
    Recording(Parts& parts, std::function<void(const std::string& lines)> report, bool own,
              std::size_t width);

    /// The next bytes of the stream. Throws Error: bad_input if they have a newer version, failed
    /// if the file cannot be written.
    void feed(std::span<const std::byte> bytes) {
        capture_.feed(bytes);
        decoder_.feed(bytes);
    }

    /// The guest's console output, received beside the stream.
    void console(std::span<const std::byte> text);

    /// Bytes before and after this are not contiguous.
    void broken_off();

    /// How the boot ended; nothing while it runs, or before the first one.
    std::optional<abi::StreamEnd> ended() const;

    /// The stream is over: completes the file.
    void end_files(const Stop& stop);
    /// After that: the last lines to print, tables and verdict. `damage`: what is wrong with the
    /// files, read back; empty: nothing. Sets `complete` if all boots are complete.
    std::string finish(const Stop& stop, const std::string& damage, bool& complete);

    /// Whether a boot has begun.
    bool begun() const { return boots_ != 0; }

    std::uint64_t events() const {
        return earlier_events_ + (boot_ ? boot_->summary().events() : 0);
    }
    std::uint64_t bytes() const { return decoder_.counts().bytes; }
    double bytes_per_event() const;

private:
    void hello(const wire::StreamHead& head) override;
    void previous_boot(std::span<const std::byte> area) override;
    void records(std::span<const abi::Record> records) override;
    void others(std::span<const std::uint32_t> of_cpus) override { boot_->others(of_cpus); }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override;
    void unfinished(std::span<const abi::UnfinishedAccess> accesses) override;

    struct Closing {
        std::string tables;
        std::string verdict; ///< the lines of the policy and of the boot, without line end
    };

    abi::Ending ending(const Stop& stop) const;
    void end_file(const Stop& stop);
    Closing close_boot(const Stop& stop, const std::string& damage);
    std::string doubts(const Stop& stop) const;
    std::string stream_text() const;
    std::string stream_line() const;

    Parts& parts_;
    std::function<void(const std::string&)> report_;
    bool own_;
    std::size_t width_;
    std::unique_ptr<Boot> boot_;
    std::string console_; ///< its last line, and perhaps more
    unsigned boots_ = 0;
    unsigned incomplete_boots_ = 0;
    std::uint64_t earlier_events_ = 0; ///< of earlier boots
    wire::WireDecoder decoder_;
    wire::Capture capture_;
};

} // namespace mmioscope::record
