// Writes a stream into a trace file, as Recorder does from shared memory.
#pragma once

#include "file/about.hpp"
#include "file/file_writer.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "wire/wire_decoder.hpp"

#include <optional>
#include <string>

namespace mmioscope::wire {

class StreamRecorder : private WireSink {
public:
    /// Writes to `file`, which stays the caller's. `about` goes into it.
    StreamRecorder(trace::FileWriter& file, trace::About about);

    /// The next bytes of the stream. Throws Error (bad_input) if they are of a newer version.
    void feed(std::span<const std::byte> bytes) { decoder_.feed(bytes); }

    /// Hands what has come together to the file.
    void flush() { file_.flush(); }

    /// No more bytes: ends the file.
    void finish(abi::Ending ending);

    /// The description of the boot that is recorded; nothing before it has come.
    const std::optional<StreamHead>& head() const { return head_; }
    /// How the sender said that it ended; nothing if it did not.
    const std::optional<abi::EndHeader>& ended() const { return end_; }
    /// A second boot has begun: what it sends is not recorded.
    bool another_boot() const { return boots_ > 1; }

    const trace::Summary& summary() const { return summary_; }
    const trace::LossCounter& losses() const { return *losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }
    const WireDecoder& decoder() const { return decoder_; }

    /// Why the trace may not be all there although no record is known to be lost; empty if
    /// nothing speaks against it.
    std::string doubts() const;

private:
    void hello(const StreamHead& head) override;
    void previous_boot(std::span<const std::byte> area) override;
    void records(std::span<const abi::Record> records) override;
    void end(const abi::EndHeader& end, std::span<const abi::Statistics> statistics) override;

    trace::FileWriter& file_;
    trace::About about_;
    std::optional<StreamHead> head_;
    std::optional<abi::EndHeader> end_;
    std::vector<abi::Statistics> statistics_;
    std::optional<trace::LossCounter> losses_{1};
    trace::Summary summary_;
    unsigned boots_ = 0;
    WireDecoder decoder_;
};

} // namespace mmioscope::wire
