#include "wire/link.hpp"

#include "system/error.hpp"

#include <algorithm>
#include <thread>

namespace mmioscope::wire {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t buffer_size = 64 * 1024;
constexpr Patience first_delay = 100ms;
constexpr Patience longest_delay = 5s;

} // namespace

Link::Link(Transport& transport, bool reconnect, Say say)
    : transport_(transport), reconnect_(reconnect), say_(std::move(say)), buffer_(buffer_size) {}

std::span<const std::byte> Link::read(Patience patience) {
    if (over_) {
        return {};
    }
    if (!transport_.is_open()) {
        reopen(patience);
        return {};
    }
    const ReadResult result = transport_.read(buffer_, patience);
    switch (result.outcome) {
    case Outcome::bytes: delay_ = 0ms; break;
    case Outcome::nothing: break;
    case Outcome::lost: lose(result.why); break;
    case Outcome::end: over_ = true; break;
    }
    return std::span(buffer_).first(result.size);
}

// The first try is immediate. Only received bytes reset the delay: a peer that accepts and closes
// connections is not tried more often than one that refuses them.
void Link::lose(const std::string& why) {
    ++breaks_;
    why_ = why;
    over_ = !reconnect_;
    say_(fmt::format("{}: {}{}", transport_.name(), why, over_ ? "" : "; trying to open it again"));
    next_try_ = Clock::now() + delay_;
    delay_ = std::clamp(2 * delay_, first_delay, longest_delay);
}

void Link::reopen(Patience patience) {
    const auto left = std::chrono::duration_cast<Patience>(next_try_ - Clock::now());
    if (left > 0ms) {
        std::this_thread::sleep_for(std::min(left, patience));
        return;
    }
    try {
        if (transport_.open(patience) && breaks_ > 0) {
            why_.clear();
            say_(fmt::format("{}: open again", transport_.name()));
        }
    } catch (const Error&) { // not there yet
        next_try_ = Clock::now() + delay_;
        delay_ = std::clamp(2 * delay_, first_delay, longest_delay);
    }
}

} // namespace mmioscope::wire
