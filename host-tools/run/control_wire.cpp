#include "run/control_wire.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

/// Large, because QEMU's CPU waits while the socket is full.
constexpr int room = 4 << 20;

/// In one pass: QEMU may send without pause, and somebody has to look for Ctrl-C.
constexpr unsigned most_blocks = 16;

} // namespace

ControlWire::ControlWire(const std::string& path, int stream)
    : stream_(stream), buffer_(64 * 1024),
      // A request is smaller than the socket's buffer: it is sent completely or not at all.
      relay_(path, [this](std::span<const std::byte> bytes) {
          (void)::send(here_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw failure("cannot make a socket: {}", std::strerror(errno));
    }
    uart_ = FileDescriptor(ends[0]);
    here_ = FileDescriptor(ends[1]);
    ::fcntl(here_.get(), F_SETFD, FD_CLOEXEC);
    ::setsockopt(uart_.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

bool ControlWire::pass() {
    for (unsigned i = 0; i < most_blocks; ++i) {
        const ssize_t size = ::recv(here_.get(), buffer_.data(), buffer_.size(), 0);
        const auto bytes = std::span<const std::byte>(buffer_).first(
            static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        append(stream_, bytes, "the stream");
        relay_.pass(bytes);
        if (bytes.empty()) {
            return false;
        }
    }
    return true;
}

} // namespace mmioscope::run
