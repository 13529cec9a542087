#include "file/console_text.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

std::optional<ConsolePiece> take_piece(std::span<const std::byte>& payload) {
    ConsoleHeader header;
    if (payload.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, payload.data(), sizeof header);
    const std::span<const std::byte> rest = payload.subspan(sizeof header);
    if (header.size > rest.size()) {
        return std::nullopt;
    }
    payload = rest.subspan(header.size);
    return ConsolePiece{header.time, rest.first(header.size)};
}

void ConsoleText::add(std::span<const std::byte> payload) {
    while (const std::optional<ConsolePiece> piece = take_piece(payload)) {
        add(piece->time, piece->text);
    }
}

void ConsoleText::add(std::uint64_t time, std::span<const std::byte> text) {
    text = text.first(std::min(text.size(), max_console - size_));
    size_ += text.size();
    for (const std::byte byte : text) {
        const char c = static_cast<char>(byte);
        if (!open_ && lines_.size() == max_console_lines) {
            return;
        }
        if (!open_) {
            lines_.push_back({time, {}});
        }
        open_ = c != '\n';
        if (open_ && c != '\r') {
            lines_.back().text += c;
        }
    }
}

} // namespace mmioscope::trace
