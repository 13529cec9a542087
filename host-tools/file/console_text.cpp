#include "file/console_text.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

void ConsoleText::add(std::span<const std::byte> payload) {
    ConsoleHeader header;
    if (payload.size() < sizeof header) {
        return;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    payload = payload.subspan(sizeof header);
    payload = payload.first(std::min(payload.size(), max_console - size_));
    size_ += payload.size();
    for (const std::byte byte : payload) {
        const char c = static_cast<char>(byte);
        if (!open_ && lines_.size() == max_console_lines) {
            return;
        }
        if (!open_) {
            lines_.push_back({header.time, {}});
        }
        open_ = c != '\n';
        if (open_ && c != '\r') {
            lines_.back().text += c;
        }
    }
}

} // namespace mmioscope::trace
