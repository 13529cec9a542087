// One stream file of a CTF trace: the events of one CPU, in packets.
#pragma once

#include "export/ctf_metadata.hpp"
#include "export/sink.hpp"
#include "lib/file_descriptor.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::exporting {

class CtfStream {
public:
    /// `header`: what each packet begins with.
    CtfStream(const std::filesystem::path& path, const std::string& name,
              const std::vector<std::byte>& header, std::uint32_t cpu);

    /// Begins an event. Times do not go back: an earlier one is taken as the one before, and
    /// counted.
    void event(std::uint8_t id, std::uint64_t time);
    /// Fields of the event, in their order.
    template <std::integral T>
    void put(T number) {
        put_bytes(&number, sizeof number);
    }
    /// An empty text is "-": babeltrace2 up to 2.0.4 shows the one before in place of it.
    void put(std::string_view text);

    /// `count` events are missing here: the packet ends, and the next one says so.
    void discard(std::uint64_t count);
    void finish();

    std::uint64_t moved() const { return moved_; }

private:
    void put_bytes(const void* bytes, std::size_t size);
    void end_packet();

    static constexpr std::size_t enough = 1 << 16;

    FileDescriptor file_;
    std::string name_;
    std::vector<std::byte> header_;
    std::uint32_t cpu_;
    std::vector<std::byte> packet_; ///< its events
    std::uint64_t first_ = 0;       ///< time of the packet's first event
    std::uint64_t last_ = 0;
    std::uint64_t discarded_ = 0;
    std::uint64_t told_ = 0; ///< of discarded_, in a packet that was written
    std::uint64_t moved_ = 0;
};

} // namespace mmioscope::exporting
