// Writes a stream into a trace file, like Recorder from shared memory.
#pragma once

#include "file/file_writer.hpp"
#include "file/texts.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "wire/wire_decoder.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mmioscope::wire {

class StreamRecorder : private WireSink {
public:
    /// Writes to `file`, which belongs to the caller, and puts `about` into it.
    StreamRecorder(trace::FileWriter& file, trace::About about);

    /// The next bytes of the stream. Throws Error (bad_input) if they have a newer version.
    void feed(std::span<const std::byte> bytes) { decoder_.feed(bytes); }

    /// Writes all collected records to the file.
    void flush() { file_.flush(); }

    /// The stream is over: ends the file.
    void finish(abi::Ending ending);

    /// The description of the recorded boot; nothing before it has arrived.
    const std::optional<StreamHead>& head() const { return head_; }
    /// How the sender said that it ended; nothing if it did not say.
    const std::optional<abi::EndHeader>& ended() const { return end_; }

    const trace::Summary& summary() const { return summary_; }
    const trace::LossCounter& losses() const { return *losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }
    const WireDecoder& decoder() const { return decoder_; }

    /// Why the trace may be incomplete although no record is known to be lost; empty if there is no
    /// reason. `console`: the end of the guest's, as far as it is known.
    std::string doubts(std::string_view console) const;

private:
    void hello(const StreamHead& head) override;
    void previous_boot(std::span<const std::byte> area) override;
    void records(std::span<const abi::Record> records) override;
    void others(std::span<const std::uint32_t> of_cpus) override {
        others_.assign(of_cpus.begin(), of_cpus.end());
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override;
    void unfinished(std::span<const abi::UnfinishedAccess> accesses) override;

    trace::FileWriter& file_;
    trace::About about_;
    std::optional<StreamHead> head_;
    std::optional<abi::EndHeader> end_;
    std::vector<std::uint32_t> others_; ///< of the next end
    std::vector<abi::Statistics> statistics_;
    std::vector<abi::UnfinishedAccess> unfinished_; ///< at that end
    std::optional<abi::Ending> ending_;             ///< once it is over
    std::optional<trace::LossCounter> losses_{1};
    trace::Summary summary_;
    unsigned boots_ = 0;
    bool cut_ = false; ///< the recording ended before the boot
    WireDecoder decoder_;
};

// What is wrong with a stream as a whole.

/// Why the trace of a stream that has an end may be incomplete although no record is known to be
/// lost; empty if there is no reason.
std::string doubts(const WireDecoder& decoder);

/// The counts, as lines of a trace's text.
std::string text_of(const WireCounts& counts);

// What to say of a stream that has no end.

/// Whether the last line of `console`, the guest's, is Linux' before it halts or turns the power
/// off. A single CPU loops there with its interrupts masked, and the hypervisor never runs again.
bool says_halted(std::string_view console);

/// Why the trace of such a stream may be incomplete. `console`: the end of the guest's console, as
/// far as it is known.
std::string no_end(std::string_view console);

} // namespace mmioscope::wire
