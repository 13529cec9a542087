#include "stream/request_line.hpp"

#include "port/barrier.hpp"
#include "port/shared.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

using abi::control::Reply;
using abi::control::Request;

const Request* RequestLine::take(std::uint32_t cpu) {
    // More than one, since a STREX may fail spuriously, and the CPU may sleep next.
    constexpr unsigned few_turns = 8;
    std::uint64_t spins = 0;
    if (line_ == nullptr || !lock_.try_acquire(cpu, few_turns, spins)) return nullptr;
    if (waiting_ || receive()) return &request_;
    lock_.release();
    return nullptr;
}

/// True: request_ must be carried out. While a reply waits, received bytes stay in the UART.
bool RequestLine::receive() {
    for (unsigned n = 0; n < sizeof window_ && port::load_shared(reply_is_waiting_) == 0; ++n) {
        const auto byte = line_->get();
        if (!byte) return false;
        std::copy(window_ + 1, window_ + sizeof window_, window_);
        window_[sizeof window_ - 1] = *byte;
        Request request;
        std::memcpy(&request, window_, sizeof request);
        if (request.check != check_of(request)) continue;
        if (answered_ && std::memcmp(&request, &request_, sizeof request) == 0) {
            port::store_shared(reply_is_waiting_, 1u); // asked again: the reply was lost
            return false;
        }
        request_ = request;
        answered_ = false;
        waiting_ = true;
        return true;
    }
    return false;
}

void RequestLine::answer(const Reply& reply) {
    reply_ = reply;
    answered_ = true;
    waiting_ = false;
    port::order_memory(); // the reply before the word that says it is there
    port::store_shared(reply_is_waiting_, 1u);
    lock_.release();
}

void RequestLine::later() {
    lock_.release();
}

bool RequestLine::take_reply(Reply& reply) {
    if (port::load_shared(reply_is_waiting_) == 0) return false;
    port::order_memory(); // the counterpart of answer()'s
    reply = reply_;
    port::order_memory(); // read before the next one may be written
    port::store_shared(reply_is_waiting_, 0u);
    return true;
}

} // namespace mmioscope
