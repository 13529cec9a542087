#include "wire/transport.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

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

namespace {

using namespace std::chrono_literals;

constexpr std::size_t buffer_size = 64 * 1024;
constexpr Patience first_delay = 100ms;
constexpr Patience longest_delay = 5s;

} // namespace

Link::Link(Transport& transport, bool reconnect, Say say)
    : transport_(transport), reconnect_(reconnect), say_(std::move(say)), buffer_(buffer_size) {}

std::span<const std::byte> Link::read(Patience patience) {
    if (over_) {
        return {};
    }
    if (!transport_.is_open()) {
        reopen(patience);
        return {};
    }
    const ReadResult result = transport_.read(buffer_, patience);
    switch (result.outcome) {
    case Outcome::bytes: delay_ = 0ms; break;
    case Outcome::nothing: break;
    case Outcome::lost: lose(result.why); break;
    case Outcome::end: over_ = true; break;
    }
    return std::span(buffer_).first(result.size);
}

// The first try is immediate. Only received bytes reset the delay: a peer that accepts and closes
// connections is not tried more often than one that refuses them.
void Link::lose(const std::string& why) {
    ++breaks_;
    why_ = why;
    over_ = !reconnect_;
    say_(fmt::format("{}: {}{}", transport_.name(), why, over_ ? "" : "; trying to open it again"));
    next_try_ = Clock::now() + delay_;
    delay_ = std::clamp(2 * delay_, first_delay, longest_delay);
}

void Link::reopen(Patience patience) {
    const auto left = std::chrono::duration_cast<Patience>(next_try_ - Clock::now());
    if (left > 0ms) {
        std::this_thread::sleep_for(std::min(left, patience));
        return;
    }
    try {
        if (transport_.open(patience) && breaks_ > 0) {
            why_.clear();
            say_(fmt::format("{}: open again", transport_.name()));
        }
    } catch (const Error&) { // not there yet
        next_try_ = Clock::now() + delay_;
        delay_ = std::clamp(2 * delay_, first_delay, longest_delay);
    }
}

namespace {

// Linux's majors of the terminal side of a pty (Documentation/admin-guide/devices.txt).
bool is_pty(const struct stat& status) {
    return S_ISCHR(status.st_mode) && major(status.st_rdev) >= 136 && major(status.st_rdev) <= 143;
}

class PathOpener : public Opener {
public:
    PathOpener(std::string path, unsigned baud) : path_(std::move(path)), baud_(baud) {}

    Opened open(Patience) override {
        serial_.reset();
        struct stat status {};
        check(::stat(path_.c_str(), &status) == 0);
        if (S_ISSOCK(status.st_mode)) {
            throw bad_input("cannot read {}: it is a socket; use unix:{}", path_, path_);
        }
        if (S_ISFIFO(status.st_mode)) {
            return fifo();
        }
        if (is_pty(status)) {
            return pty();
        }
        return S_ISCHR(status.st_mode) ? character_device() : file();
    }

private:
    void check(bool good) const {
        if (!good) {
            throw bad_input("cannot read {}: {}", path_, std::strerror(errno));
        }
    }

    FileDescriptor descriptor(int flags) const {
        FileDescriptor file(::open(path_.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        check(static_cast<bool>(file));
        return file;
    }

    static Opened file_at(FileDescriptor file) { return {std::move(file), true, false}; }

    Opened file() const {
        constexpr std::uint64_t most = std::uint64_t{1} << 40;
        return file_at(open_or_spool(path_, most, [](std::size_t) {}));
    }

    // Writers to a FIFO without readers fail: open the new reader before the old one is closed.
    Opened fifo() {
        FileDescriptor next = descriptor(O_RDONLY);
        FileDescriptor ours(::fcntl(next.get(), F_DUPFD_CLOEXEC, 0));
        check(static_cast<bool>(ours));
        standby_ = std::move(ours);
        return {std::move(next), false, false};
    }

    // libserialport does not accept a pty as a serial port: it has no modem lines.
    Opened pty() const {
        FileDescriptor file = descriptor(O_RDWR);
        termios settings;
        check(::tcgetattr(file.get(), &settings) == 0);
        ::cfmakeraw(&settings);
        check(::tcsetattr(file.get(), TCSANOW, &settings) == 0);
        return {std::move(file), false, true};
    }

    // A device that is not a terminal (/dev/zero) reads like a file. Without O_NONBLOCK the open
    // itself could wait for a modem.
    Opened character_device() {
        FileDescriptor file = descriptor(O_RDONLY);
        if (::isatty(file.get()) == 0) {
            return file_at(std::move(file));
        }
        file = FileDescriptor();
        serial_.emplace(path_, baud_);
        return {serial_->descriptor(), false, true};
    }

    std::string path_;
    unsigned baud_;
    std::optional<SerialPort> serial_;
    FileDescriptor standby_;
};

} // namespace

std::unique_ptr<Opener> open_path(std::string path, unsigned baud) {
    return std::make_unique<PathOpener>(std::move(path), baud);
}

namespace {

std::string reason(sp_return result) {
    if (result != SP_ERR_FAIL) {
        return result == SP_ERR_ARG ? "no such serial port" : "not supported";
    }
    char* message = sp_last_error_message();
    std::string text(message);
    sp_free_error_message(message);
    return text;
}

} // namespace

void SerialPort::Close::operator()(sp_port* port) const {
    sp_close(port); // fails, harmlessly, if it was never opened
    sp_free_port(port);
}

SerialPort::SerialPort(const std::string& path, unsigned baud) {
    sp_port* port = nullptr;
    const auto check = [&path](sp_return result, const std::string& what) {
        if (result != SP_OK) {
            throw bad_input("{}: {}: {}", path, what, reason(result));
        }
    };
    check(sp_get_port_by_name(path.c_str(), &port), "cannot find the serial port");
    port_.reset(port);
    check(sp_open(port, SP_MODE_READ_WRITE), "cannot open the serial port");
    check(sp_set_bits(port, 8), "cannot set 8 bits");
    check(sp_set_parity(port, SP_PARITY_NONE), "cannot set no parity");
    check(sp_set_stopbits(port, 1), "cannot set one stop bit");
    check(sp_set_flowcontrol(port, SP_FLOWCONTROL_NONE), "cannot set no flow control");
    check(sp_set_baudrate(port, static_cast<int>(baud)), fmt::format("cannot set {} baud", baud));
}

FileDescriptor SerialPort::descriptor() const {
    int fd = -1;
    sp_get_port_handle(port_.get(), &fd);
    return FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

} // namespace mmioscope::wire
