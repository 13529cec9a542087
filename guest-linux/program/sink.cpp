#include "sink.hpp"

#include "lib/error.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::guest {

void Sink::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        wait();
        const ssize_t put = ::write(file_.get(), bytes.data(), bytes.size());
        if (put < 0 && errno != EINTR && errno != EAGAIN) {
            throw failure("{}: {}", name_, std::strerror(errno));
        }
        const auto done = static_cast<std::size_t>(put > 0 ? put : 0);
        bytes = bytes.subspan(done);
        written_ += done;
    }
}

void Sink::wait() {
    constexpr int turn = 100;         // ms
    constexpr unsigned patience = 30; // turns
    pollfd room{file_.get(), POLLOUT, 0};
    for (unsigned turns = 0; ::poll(&room, 1, turn) <= 0;) {
        if (stopping_() && ++turns == patience) {
            throw failure("{}: the other side takes nothing", name_);
        }
    }
}

} // namespace mmioscope::guest
