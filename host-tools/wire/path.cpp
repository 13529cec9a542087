// Serial ports, ptys, FIFOs and files: all have a path; the kind is detected when it is opened.
#include "system/error.hpp"
#include "system/spool.hpp"
#include "wire/opener.hpp"
#include "wire/serial_port.hpp"

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

} // namespace mmioscope::wire
