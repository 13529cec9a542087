#include "wire/serial_port.hpp"

#include "system/error.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::wire {

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
