#include "file/console_writer.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

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
