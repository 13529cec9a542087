#include "file/read_back.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace mmioscope::trace {

namespace {

void check_name(const std::string& path, const struct stat& file) {
    struct stat named {};
    if (::stat(path.c_str(), &named) != 0) {
        throw failure("{} was removed or renamed while it was recorded", path);
    }
    if (named.st_dev != file.st_dev || named.st_ino != file.st_ino) {
        throw failure("{} was replaced by another file while it was recorded", path);
    }
}

/// What the file has, at most `most` bytes.
Written contents_of(int fd, std::uint64_t most, const std::string& path) {
    std::vector<std::byte> block(static_cast<std::size_t>(std::min<std::uint64_t>(most, 1 << 20)));
    Written read;
    while (read.size < most) {
        const auto wanted =
            static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), most - read.size));
        const ssize_t got = ::pread(fd, block.data(), wanted, static_cast<off_t>(read.size));
        if (got < 0 && errno != EINTR) {
            throw failure("{} cannot be read back: {}", path, std::strerror(errno));
        }
        if (got == 0) {
            break;
        }
        const auto size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        read.size += size;
        read.crc.add(std::span(block).first(size));
    }
    return read;
}

} // namespace

void read_back(const FinishedFile& finished) {
    read_back(finished.path, finished.file->file.get(), finished.written);
}

void read_back(const std::string& path, int fd, const Written& written) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        throw failure("{} cannot be read back: {}", path, std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return;
    }
    check_name(path, status);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size != written.size) {
        throw failure("{} was changed while it was recorded: it has {} bytes, {} were written",
                      path, size, written.size);
    }
    if (contents_of(fd, size, path).crc.value != written.crc.value) {
        throw failure("{} was changed while it was recorded: it has other bytes than were written",
                      path);
    }
}

} // namespace mmioscope::trace
