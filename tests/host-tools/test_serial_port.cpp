// libserialport on a pty. It reads each port's modem lines, which a pty does not have; ioctl() here
// emulates these and nothing else. Rate, format and bytes are the kernel's.
#include "kernel_baud.hpp"
#include "system/error.hpp"
#include "wire/transport.hpp"
#include "wires.hpp"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>

#include <cstdarg>
#include <cstring>

extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
    va_list arguments;
    va_start(arguments, request);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    if (request == TIOCMGET) {
        *static_cast<int*>(argument) = 0;
        return 0;
    }
    if (request == TIOCMSET || request == TIOCMBIS || request == TIOCMBIC) {
        return 0;
    }
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}

// libserialport 0.1.2 follows links first, and a pty is not below /sys/class/tty. Not here.
extern "C" char* __realpath_chk(const char* path, char* resolved, std::size_t) noexcept {
    return std::strcpy(resolved, path);
}

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

// libserialport accepts only paths below /dev with, as it sees, a link in /sys/class/tty.
std::string as_port(const Folder& folder, const Pty& pty) {
    std::filesystem::create_symlink(pty.path, folder / "port");
    return "/dev/../../.." + (folder / "port");
}

} // namespace

TEST_CASE("a serial port is raw, 8N1, without flow control, at any rate") {
    const unsigned baud = GENERATE(50u, 115'200u, 921'600u, 1'234'567u, 12'000'000u);
    const Folder folder;
    Pty pty;
    const wire::SerialPort port(as_port(folder, pty), baud);
    CHECK(kernel_baud(pty.slave.get()) == baud);
    termios settings{};
    REQUIRE(::tcgetattr(pty.slave.get(), &settings) == 0);
    CHECK((settings.c_cflag & (CSIZE | PARENB | CSTOPB | CRTSCTS)) == CS8);
    CHECK((settings.c_iflag & (IXON | IXOFF | ICRNL | INLCR | ISTRIP)) == 0);
    CHECK((settings.c_lflag & (ICANON | ECHO | ISIG)) == 0);
    CHECK((settings.c_oflag & OPOST) == 0);
}

TEST_CASE("a serial port carries every byte, both ways") {
    const Folder folder;
    Pty pty;
    const wire::SerialPort port(as_port(folder, pty), 115'200);
    const FileDescriptor wire = port.descriptor();
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    send(pty.master.get(), bytes);
    CHECK(received_by(wire.get(), bytes.size()) == bytes);
    send(wire.get(), bytes);
    CHECK(received_by(pty.master.get(), bytes.size()) == bytes);
}

TEST_CASE("a file that is not a serial port is refused in one line") {
    const Folder folder;
    CHECK_THROWS_WITH(wire::SerialPort("/dev/no-such-port", 9600),
                      Catch::Contains("/dev/no-such-port: cannot find the serial port"));
    CHECK_THROWS_AS(wire::SerialPort("/dev/null", 9600), Error);
}
