#include "run/console_file.hpp"

#include <unistd.h>

#include <algorithm>

namespace mmioscope::run {

std::span<const std::byte> ConsoleFile::read_more() {
    const ssize_t size = ::pread(fd_, buffer_.data(), buffer_.size(), static_cast<off_t>(read_));
    const auto got = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    read_ += got;
    return std::span<const std::byte>(buffer_).first(got);
}

} // namespace mmioscope::run
