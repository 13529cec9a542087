#include "run/access_logs.hpp"

#include "system/error.hpp"
#include "system/part_path.hpp"
#include "system/replaced_file.hpp"

#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

std::uint64_t size_of(int fd) {
    struct stat status {};
    ::fstat(fd, &status);
    return static_cast<std::uint64_t>(status.st_size);
}

void copy(int from, std::uint64_t begin, std::uint64_t end, const std::string& path) {
    ReplacedFile to(path);
    for (auto at = static_cast<off_t>(begin); at < static_cast<off_t>(end);) {
        const auto rest = static_cast<std::size_t>(static_cast<off_t>(end) - at);
        if (::sendfile(to.fd(), from, &at, rest) <= 0) {
            throw failure("cannot write {}: {}", path, std::strerror(errno));
        }
    }
    to.commit();
}

} // namespace

void AccessLogs::end_boot() {
    if (fd_ >= 0) {
        ends_.push_back(size_of(fd_));
    }
}

void AccessLogs::split() const {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        const std::uint64_t end = i + 1 < ends_.size() ? ends_[i + 1] : size_of(fd_);
        copy(fd_, ends_[i], end, part_path(path_, static_cast<unsigned>(i) + 2));
    }
    if (!ends_.empty() && ::ftruncate(fd_, static_cast<off_t>(ends_[0])) != 0) {
        throw failure("cannot shorten {}: {}", path_, std::strerror(errno));
    }
}

} // namespace mmioscope::run
