// The stream's way back: receives requests on its line, one at a time, and passes on the reply to
// each (abi/control.hpp).
//
// One CPU at a time uses take() and then answer() or later(). The stream uses take_reply(). One
// reply may wait between them.
#pragma once

#include "abi/control.hpp"
#include "machine/cpu.hpp"
#include "stream/line.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

/// Carries out requests.
class RequestHandler {
public:
    /// Returns the reply to `request`, or nothing if it cannot be carried out now: try again.
    virtual std::optional<abi::control::Reply> serve(Cpu& cpu,
                                                     const abi::control::Request& request) = 0;

protected:
    ~RequestHandler() = default;
};

class RequestLine {
public:
    void start(Line& line) { line_ = &line; }

    /// Reads what has come in, at most as many bytes as a request has. Returns a request that must
    /// be carried out, which belongs to `cpu` until it calls answer() or later(); null if there is
    /// none.
    const abi::control::Request* take(std::uint32_t cpu);
    void answer(const abi::control::Reply& reply);
    /// The request cannot be carried out now: the next take() returns it again.
    void later();

    /// Gets the reply that must be sent. False: there is none.
    bool take_reply(abi::control::Reply& reply);

private:
    bool receive();

    Line* line_{};
    Lock lock_;
    std::uint8_t window_[sizeof(abi::control::Request)]{}; ///< the last bytes received
    bool waiting_{};                                       ///< request_ must be carried out
    abi::control::Request request_{};
    abi::control::Reply reply_{};      ///< to the last request
    std::uint32_t reply_is_waiting_{}; ///< must be sent
    bool answered_{};                  ///< reply_ answers request_
};

} // namespace mmioscope
