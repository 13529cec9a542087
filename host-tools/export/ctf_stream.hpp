// One stream file of a CTF trace: the events of one CPU, in packets.
#pragma once

#include "export/ctf_metadata.hpp"
#include "system/file_descriptor.hpp"
#include "system/text_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mmioscope::exporting {

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

} // namespace mmioscope::exporting
