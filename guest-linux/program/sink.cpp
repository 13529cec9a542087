#include "sink.hpp"

#include "system/error.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace mmioscope::guest {

std::size_t Sink::write(std::span<const std::uint8_t> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        wait();
        const std::size_t size = std::min<std::size_t>(bytes.size() - done, PIPE_BUF);
        const ssize_t put = ::write(file_.get(), bytes.data() + done, size);
        if (put < 0 && errno != EINTR && errno != EAGAIN) {
            lose(std::strerror(errno));
            break;
        }
        done += static_cast<std::size_t>(put > 0 ? put : 0);
    }
    return done;
}

// What was written waits in the kernel until the other side has acknowledged it (tcp(7), SIOCOUTQ).
void Sink::finish() {
    if (::shutdown(file_.get(), SHUT_WR) != 0) {
        return; // a pipe, or the other side is gone
    }
    pollfd closed{file_.get(), POLLIN, 0};
    for (unsigned turns = 0; turns < patience; ++turns) {
        std::byte ignored[512];
        if (::poll(&closed, 1, turn) > 0 && ::read(file_.get(), ignored, sizeof ignored) <= 0) {
            return;
        }
    }
    int left = 0;
    if (::ioctl(file_.get(), SIOCOUTQ, &left) == 0 && left > 0) {
        throw failure("{}: the other side has not taken the last {} bytes", name_, left);
    }
}

// Closes the old connection first, because a listener takes one at a time.
void Sink::lose(const std::string& why) {
    if (!reopen_) {
        throw failure("{}: {}", name_, why);
    }
    ++breaks_;
    file_ = FileDescriptor();
    file_ = reopen_(why);
}

// A pipe that polls as writable has room for PIPE_BUF bytes. A larger write may wait, because
// others share standard output and it cannot be made non-blocking.
void Sink::wait() {
    pollfd room{file_.get(), POLLOUT, 0};
    for (unsigned turns = 0; ::poll(&room, 1, turn) <= 0;) {
        if (stopping_() && ++turns == patience) {
            throw failure("{}: the other side reads nothing", name_);
        }
    }
}

} // namespace mmioscope::guest
