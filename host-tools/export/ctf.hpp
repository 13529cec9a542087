// Common Trace Format 1.8: a folder with a description and a stream for each CPU.
#pragma once

#include "export/row_text.hpp"
#include "export/sink.hpp"
#include "file/trace_reader.hpp"
#include "system/file_descriptor.hpp"
#include "system/text_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::exporting {

// The description of a CTF trace (Common Trace Format 1.8, in TSDL): its packets, clock and events.

/// Event ids: those of record types, and of accesses that store. All types newer than this program
/// share one id.
inline constexpr std::uint8_t ctf_write = 64;
inline constexpr std::uint8_t ctf_unknown = 65;

/// The start of each packet: the magic number and, if known, the boot's id as UUID.
std::vector<std::byte> ctf_packet_header(const trace::TraceReader& reader);

std::string ctf_metadata(const trace::TraceReader& reader);

// One stream file of a CTF trace: the events of one CPU, in packets.

class CtfStream {
public:
    /// `header`: the start of each packet.
    CtfStream(const std::filesystem::path& path, const std::string& name,
              const std::vector<std::byte>& header, std::uint32_t cpu);

    /// Begins an event; append its members, in order, to the result. Times do not go back: an
    /// earlier time is replaced by the previous one, and counted.
    TextBuffer& event(std::uint8_t id, std::uint64_t time) {
        if (packet_.size() >= enough) {
            end_packet();
        }
        moved_ += time < last_ ? 1 : 0;
        last_ = std::max(last_, time);
        if (packet_.size() == 0) {
            first_ = last_;
        }
        TextCursor at = packet_.cursor(sizeof(EventHeader));
        at.append_bytes(EventHeader{id, last_});
        packet_.end(at);
        return packet_;
    }

    /// Ends the packet; the next one says that `count` events are missing.
    void discard(std::uint64_t count);
    void finish();

    std::uint64_t moved() const { return moved_; }

private:
    struct [[gnu::packed]] EventHeader {
        std::uint8_t id;
        std::uint64_t timestamp;
    };
    static_assert(sizeof(EventHeader) == 9);

    void end_packet();

    static constexpr std::size_t enough = 1 << 16;

    FileDescriptor file_;
    std::string name_;
    std::vector<std::byte> header_;
    std::uint32_t cpu_;
    TextBuffer packet_;       ///< the packet's events
    std::uint64_t first_ = 0; ///< time of the packet's first event
    std::uint64_t last_ = 0;
    std::uint64_t discarded_ = 0;
    std::uint64_t written_discarded_ = 0; ///< the part of discarded_ that is in written packets
    std::uint64_t moved_ = 0;
};

class Ctf : public Exporter {
public:
    /// Fills `folder`, whose name in errors is `name`.
    Ctf(std::filesystem::path folder, std::string name);

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void forget() override { rows_->forget(); }
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    CtfStream& begin_stream(std::uint8_t cpu);
    CtfStream& stream(std::uint8_t cpu);

    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t start_ = 0;
    std::vector<std::byte> header_;                       ///< of packets
    std::array<std::unique_ptr<CtfStream>, 256> streams_; ///< by CPU
    std::optional<RowText> rows_{std::in_place, RowForm::ctf, Cells()}; ///< of the trace in begin()
};

/// Whether replacing `folder` loses nothing: it is empty, or holds only a CTF trace as this program
/// writes it.
bool is_ctf_trace(const std::filesystem::path& folder);

} // namespace mmioscope::exporting
