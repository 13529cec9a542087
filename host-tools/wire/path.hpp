// A serial port, through libserialport: raw, 8 bits, no parity, one stop bit, no flow control.
#pragma once

#include "wire/transport.hpp"

#include <libserialport.h>

#include <memory>
#include <string>

namespace mmioscope::wire {

class SerialPort {
public:
    /// Opens `path` at `baud`, any rate that the hardware supports. Throws Error (bad_input) that
    /// names both.
    SerialPort(const std::string& path, unsigned baud);

    /// Another descriptor of the open port, non-blocking.
    FileDescriptor descriptor() const;

private:
    struct Close {
        void operator()(sp_port* port) const;
    };
    std::unique_ptr<sp_port, Close> port_;
};

} // namespace mmioscope::wire
