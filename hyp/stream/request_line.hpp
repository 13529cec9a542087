// The stream's way back: requests that come in on its line, one at a time, and the reply to each
// (abi/control.hpp).
//
// take() and what follows it are one CPU's at a time; take_reply() is the stream's. In between
// stands one reply.
#pragma once

#include "abi/control.hpp"
#include "dev/line.hpp"
#include "trace/lock.hpp"

namespace mmioscope {

class RequestLine {
public:
    void start(Line& line) { line_ = &line; }

    /// Looks at what has come in, at most a request's bytes. A request that is to be carried out is
    /// `cpu`'s alone until it says answer() or later(); null if there is none.
    const abi::control::Request* take(std::uint32_t cpu);
    void answer(const abi::control::Reply& reply);
    /// It could not be carried out now: the next take() has it again.
    void later();

    /// A reply that is to be sent.
    bool take_reply(abi::control::Reply& reply);

private:
    bool receive();

    Line* line_{};
    Lock lock_;
    std::uint8_t window_[sizeof(abi::control::Request)]{}; ///< the bytes that came last
    bool waiting_{};                                       ///< request_ is to be carried out
    abi::control::Request request_{};
    abi::control::Reply reply_{};      ///< to the request before
    std::uint32_t reply_is_waiting_{}; ///< to be sent
    bool answered_{};                  ///< reply_ is to request_
};

} // namespace mmioscope
