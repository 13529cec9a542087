#include "file/console_text.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

std::optional<ConsolePiece> next_piece(std::span<const std::byte>& payload) {
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
    while (const std::optional<ConsolePiece> piece = next_piece(payload)) {
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

namespace {

// No real counter gets this far; bytes from a wire may claim it, and sums must not overflow.
constexpr std::uint64_t latest = std::uint64_t{1} << 62;

} // namespace

std::int64_t CounterClock::ticks(Moment now) const {
    const std::chrono::duration<double> since = now.time_since_epoch();
    return static_cast<std::int64_t>(since.count() * frequency_);
}

void CounterClock::see(std::uint64_t time, Moment now) {
    if (time > latest) {
        return;
    }
    const std::int64_t ahead = static_cast<std::int64_t>(time) - ticks(now);
    ahead_ = std::max(ahead_.value_or(ahead), ahead);
}

std::optional<std::uint64_t> CounterClock::at(Moment now) const {
    if (!ahead_) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(ticks(now) + *ahead_, 1));
}

void ConsoleWriter::add(std::span<const std::byte> bytes) {
    const std::uint64_t time = clock_.at(std::chrono::steady_clock::now()).value_or(0);
    bytes = bytes.first(std::min(bytes.size(), max_console - written_));
    written_ += bytes.size();
    while (!bytes.empty()) {
        const std::span<const std::byte> piece =
            bytes.first(std::min(bytes.size(), max_console_piece));
        const ConsoleHeader header{time, piece.size()};
        std::vector<std::byte> payload(sizeof header + piece.size());
        std::memcpy(payload.data(), &header, sizeof header);
        std::copy(piece.begin(), piece.end(), payload.begin() + sizeof header);
        file_.section(console_section, payload);
        bytes = bytes.subspan(piece.size());
    }
}

} // namespace mmioscope::trace
