// A transport that is reopened after a loss, with growing delays, until the user ends it.
#pragma once

#include "wire/transport.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace mmioscope::wire {

class Link {
public:
    using Say = std::function<void(const std::string& line)>;

    /// Reads from `transport`, which belongs to the caller and is open or being opened. Calls `say`
    /// when it is lost and when it is back. Without `reconnect` a loss is the end.
    Link(Transport& transport, bool reconnect, Say say);

    /// The bytes that have arrived; empty after about `patience` without any. Valid until the next
    /// read. Throws Error if a file can no longer be read.
    std::span<const std::byte> read(Patience patience);

    /// Whether nothing more will come.
    bool over() const { return over_; }
    /// Why, if the other side was lost; otherwise empty.
    const std::string& why() const { return why_; }

    /// How often the stream was interrupted so far: bytes before and after that are not contiguous.
    unsigned breaks() const { return breaks_; }

private:
    using Clock = std::chrono::steady_clock;

    void lose(const std::string& why);
    void reopen(Patience patience);

    Transport& transport_;
    bool reconnect_;
    Say say_;
    std::vector<std::byte> buffer_;
    bool over_ = false;
    std::string why_;
    unsigned breaks_ = 0;
    Patience delay_{0}; ///< before the next try
    Clock::time_point next_try_;
};

} // namespace mmioscope::wire
