#include "lib/byte_source.hpp"

#include "lib/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mmioscope::trace {

std::size_t FileSource::read(void* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(fd_, static_cast<char*>(to) + done, size - done);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            throw bad_input("reading failed: {}", std::strerror(errno));
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return done;
}

std::size_t MemorySource::read(void* to, std::size_t size) {
    const std::size_t n = std::min(size, bytes_.size());
    std::copy_n(bytes_.begin(), n, static_cast<std::byte*>(to));
    bytes_ = bytes_.subspan(n);
    return n;
}

} // namespace mmioscope::trace
