#include "system/growing_source.hpp"

#include "system/error.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace mmioscope {

namespace {

constexpr int patience_ms = 100;

bool is_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

} // namespace

GrowingSource::GrowingSource(int fd, std::function<bool()> wait)
    : fd_(fd), pipe_(!is_file(fd)), wait_(std::move(wait)) {}

// A file is always ready, so sleep; for a pipe poll() waits.
bool GrowingSource::more() {
    pollfd watched{fd_, POLLIN, 0};
    while (::poll(&watched, pipe_ ? 1 : 0, patience_ms) == 0) {
        if (!wait_()) {
            return false;
        }
        if (!pipe_) {
            return true;
        }
    }
    return true;
}

std::size_t GrowingSource::read_some(void* to, std::size_t size) {
    while (size > 0 && (!pipe_ || more())) {
        const ssize_t got = ::read(fd_, to, size);
        if (got > 0) {
            return static_cast<std::size_t>(got);
        }
        if (got < 0 && errno != EINTR) {
            throw bad_input("reading failed: {}", std::strerror(errno));
        }
        if (got == 0 && (pipe_ || !more())) {
            break;
        }
    }
    return 0;
}

std::size_t GrowingSource::read(void* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const std::size_t got = read_some(static_cast<char*>(to) + done, size - done);
        if (got == 0) {
            break;
        }
        done += got;
    }
    return done;
}

} // namespace mmioscope
