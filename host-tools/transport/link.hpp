// A transport that is opened again after it was lost, with growing delays, until somebody ends it.
#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace mmioscope::transport {

class Link {
public:
    using Say = std::function<void(const std::string& line)>;

    /// Reads from `transport`, which stays the caller's and is open or being opened. `say` is told
    /// when it is lost and when it is back. Without `reconnect` a loss is the end.
    Link(Transport& transport, bool reconnect, Say say);

    /// The bytes that have come; none after about `patience` if there are none. Valid until the
    /// next read. Throws Error if a file cannot be read on.
    std::span<const std::byte> read(Patience patience);

    /// Nothing more will come.
    bool over() const { return over_; }
    /// Why, if the other side was lost; else empty.
    const std::string& why() const { return why_; }

    /// How often the stream was broken off so far: what comes next does not follow what came
    /// before.
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

} // namespace mmioscope::transport
