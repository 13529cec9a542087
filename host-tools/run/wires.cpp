#include "run/wires.hpp"

#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mmioscope::run {

SharedConsole::SharedConsole(int wire, int console, int stream)
    : from_(wire), console_(console, "the console"), stream_(stream), buffer_(64 * 1024) {}

void SharedConsole::pass() {
    struct stat status {};
    if (::fstat(from_, &status) != 0) {
        throw failure("cannot read the wire: {}", std::strerror(errno));
    }
    // Only what is there by now: QEMU may send without pause, and somebody looks for Ctrl-C.
    while (read_ < static_cast<std::uint64_t>(status.st_size)) {
        const ssize_t size =
            ::pread(from_, buffer_.data(), buffer_.size(), static_cast<off_t>(read_));
        if (size < 0) {
            throw failure("cannot read the wire: {}", std::strerror(errno));
        }
        if (size == 0) {
            return;
        }
        read_ += static_cast<std::uint64_t>(size);
        wire_.feed(std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(size)));
        console_.append(wire_.console());
        append(stream_, wire_.stream(), "the stream");
    }
}

} // namespace mmioscope::run
