// Serial ports, ptys, FIFOs and files: all have a path; the kind is detected when it is opened.
#include "wire/path.hpp"

#include "system/error.hpp"
#include "system/spool.hpp"
#include "wire/transport.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace mmioscope::wire {

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
