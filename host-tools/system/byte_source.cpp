#include "system/byte_source.hpp"

#include "system/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mmioscope {

FileSource::FileSource(int fd) : fd_(fd) {
    struct stat status {};
    const off_t at = ::lseek(fd, 0, SEEK_CUR);
    if (at >= 0 && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        start_ = static_cast<std::uint64_t>(at);
    }
}

std::optional<std::uint64_t> FileSource::size() const {
    struct stat status {};
    if (!start_ || ::fstat(fd_, &status) != 0) {
        return std::nullopt;
    }
    const auto end = static_cast<std::uint64_t>(status.st_size);
    return end - std::min(end, *start_);
}

void FileSource::seek(std::uint64_t offset) {
    if (start_ && ::lseek(fd_, static_cast<off_t>(*start_ + offset), SEEK_SET) < 0) {
        throw bad_input("reading at byte {} failed: {}", offset, std::strerror(errno));
    }
}

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
    const std::size_t n = std::min(size, rest_.size());
    std::copy_n(rest_.begin(), n, static_cast<std::byte*>(to));
    rest_ = rest_.subspan(n);
    return n;
}

void MemorySource::seek(std::uint64_t offset) {
    rest_ = bytes_.subspan(std::min<std::uint64_t>(offset, bytes_.size()));
}

} // namespace mmioscope
