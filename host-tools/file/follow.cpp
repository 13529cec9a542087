#include "file/follow.hpp"

#include "system/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mmioscope::trace {

void WriteProgress::advance(std::uint64_t written) {
    const std::lock_guard lock(mutex_);
    written_ = written;
    changed_.notify_all();
}

void WriteProgress::finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
}

std::uint64_t WriteProgress::wait_beyond(std::uint64_t offset, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return finished_ || written_ > offset; });
    return written_;
}

bool WriteProgress::finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
}

std::size_t FollowSource::available(std::size_t wanted) {
    using namespace std::chrono_literals;
    for (;;) {
        const bool finished = progress_.finished(); // before the count: it cannot grow after
        const std::uint64_t written = progress_.wait_beyond(offset_ + wanted - 1, 100ms);
        if (finished || written >= offset_ + wanted) {
            return static_cast<std::size_t>(std::min<std::uint64_t>(wanted, written - offset_));
        }
        idle_();
    }
}

std::size_t FollowSource::read(void* to, std::size_t size) {
    const std::size_t n = size == 0 ? 0 : available(size);
    std::size_t done = 0;
    while (done < n) {
        const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, n - done,
                                    static_cast<off_t>(offset_ + done));
        if (got == 0) {
            throw failure("reading the trace back failed: it is shorter than what was written");
        }
        if (got < 0 && errno != EINTR) {
            throw failure("reading the trace back failed: {}", std::strerror(errno));
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    offset_ += done;
    return done;
}

} // namespace mmioscope::trace
