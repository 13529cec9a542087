#include "wire/transport.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mmioscope::wire {

namespace {

class StandardInput : public Opener {
public:
    Opened open(Patience) override {
        FileDescriptor file(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
        if (!file) {
            throw bad_input("cannot read standard input: {}", std::strerror(errno));
        }
        return {std::move(file), true, false};
    }
};

std::unique_ptr<Opener> make_opener(const Address& address, unsigned baud) {
    switch (address.kind) {
    case Kind::standard_input: return std::make_unique<StandardInput>();
    case Kind::path: return open_path(address.path, baud);
    case Kind::unix_socket:
    case Kind::tcp: return open_socket(address);
    }
    throw bad_input("'{}' is not a source", address.text);
}

// True if `fd` can be read or written, or has failed. A signal ends the waiting early.
bool ready(int fd, short events, Patience patience) {
    pollfd wait{fd, events, 0};
    const int most = static_cast<int>(std::clamp<Patience::rep>(patience.count(), 0, 60'000));
    return ::poll(&wait, 1, most) > 0;
}

bool try_again(int error) {
    return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

} // namespace

Transport::Transport(std::string name, std::unique_ptr<Opener> opener)
    : name_(std::move(name)), opener_(std::move(opener)) {}

bool Transport::open(Patience patience) {
    opened_ = {};
    opened_ = opener_->open(patience);
    return is_open();
}

ReadResult Transport::read(std::span<std::byte> to, Patience patience) {
    if (!is_open()) {
        return {Outcome::lost, 0, "not open"};
    }
    // Wait first: only a FIFO without a writer reads as if at its end.
    if (!ready(opened_.file.get(), POLLIN, patience)) {
        return {Outcome::nothing};
    }
    const ssize_t got = ::read(opened_.file.get(), to.data(), to.size());
    if (got > 0) {
        return {Outcome::bytes, static_cast<std::size_t>(got)};
    }
    if (got < 0 && try_again(errno)) {
        return {Outcome::nothing};
    }
    if (opened_.ends && got < 0) {
        throw failure("{}: reading failed: {}", name_, std::strerror(errno));
    }
    if (opened_.ends) {
        opened_ = {};
        return {Outcome::end};
    }
    // A pty whose other side is closed returns EIO.
    return lost(got == 0 || errno == EIO ? "closed by the other side" : std::strerror(errno));
}

ReadResult Transport::lost(const std::string& why) {
    opened_ = {};
    return {Outcome::lost, 0, why};
}

std::size_t Transport::write(std::span<const std::byte> bytes, Patience patience) {
    if (is_open() && !opened_.writable) {
        throw bad_input("{}: cannot be written to, so it takes no commands", name_);
    }
    const auto until = std::chrono::steady_clock::now() + patience;
    std::size_t done = 0;
    while (is_open() && done < bytes.size()) {
        const auto left =
            std::chrono::duration_cast<Patience>(until - std::chrono::steady_clock::now());
        if (!ready(opened_.file.get(), POLLOUT, left)) {
            break;
        }
        const ssize_t put = ::write(opened_.file.get(), bytes.data() + done, bytes.size() - done);
        if (put < 0 && !try_again(errno)) {
            break; // the next read returns the reason
        }
        done += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    return done;
}

Transport make_transport(const Address& address, unsigned baud) {
    return {address.text, make_opener(address, baud)};
}

} // namespace mmioscope::wire
