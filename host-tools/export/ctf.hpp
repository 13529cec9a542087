// Common Trace Format 1.8: a folder with a description and a stream for each CPU.
#pragma once

#include "export/sink.hpp"
#include "export/value_text.hpp"
#include "file/trace_reader.hpp"
#include "reading/kept.hpp"
#include "records/ticks.hpp"
#include "system/file_descriptor.hpp"
#include "system/text_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
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

    /// Begins an event. Its fields, in order, take at most `most` bytes; end() gets the position
    /// behind them. Times do not go back: an earlier time is replaced by the previous one, and
    /// counted.
    TextCursor event(std::uint8_t id, std::uint64_t time, std::size_t most) {
        if (packet_.size() >= enough) {
            end_packet();
        }
        moved_ += time < last_ ? 1 : 0;
        last_ = std::max(last_, time);
        if (packet_.size() == 0) {
            first_ = last_;
        }
        TextCursor at = packet_.cursor(sizeof(EventHeader) + most);
        at.append_bytes(EventHeader{id, last_});
        return at;
    }
    void end(const TextCursor& event) { packet_.end(event); }

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
    void forget() override { values_.forget(), interrupts_.forget(); }
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    /// Fields of accesses that share a context. Numbers that do not depend on it have places in
    /// them, and are filled in after copying.
    struct OfContext {
        Piece place; ///< device, offset, register, size, and the value from value_at on
        ValueText::OfContext value;
        Piece code; ///< from the address to comm
        std::uint32_t value_at = 0;
        std::uint32_t lr_at = 0;
        std::uint32_t stack_at = 0; ///< sp and va
        std::size_t size = 0;       ///< of all texts
    };

    /// As in all formats, a time before the start becomes 0.
    std::uint64_t since_start(std::uint64_t time) const { return time - std::min(time, start_); }
    CtfStream& begin_stream(std::uint8_t cpu);
    CtfStream& stream(std::uint8_t cpu);
    OfContext& context(const Event& event);
    void make(OfContext& to, const Event& event) const;
    void add_place(CtfStream& to, const Event& event);

    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t start_ = 0;
    trace::TickLength tick_{0};
    std::vector<std::byte> header_;                       ///< of packets
    std::array<std::unique_ptr<CtfStream>, 256> streams_; ///< by CPU
    reading::KeptByContext<OfContext, 512> contexts_;
    OfContext other_;
    ValueText values_;
    InterruptText interrupts_;
    FlagText flags_;
    std::string texts_; ///< of an event that has some
};

/// Whether replacing `folder` loses nothing: it is empty, or holds only a CTF trace as this program
/// writes it.
bool is_ctf_trace(const std::filesystem::path& folder);

} // namespace mmioscope::exporting
