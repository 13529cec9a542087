// Lets `mmioscope ctl` reach a guest in QEMU: the stream's UART is a socket instead of a file.
// Bytes from QEMU go to the file, bytes from clients go to QEMU.
#pragma once

#include "control/relay.hpp"
#include "system/file_descriptor.hpp"

#include <string>
#include <vector>

namespace mmioscope::run {

class ControlWire {
public:
    /// Listens on the unix socket `path`. `stream`, the file, belongs to the caller. Throws Error.
    ControlWire(const std::string& path, int stream);

    /// The UART's end of the socket, which QEMU inherits.
    int for_qemu() const { return uart_.get(); }
    /// Call it when QEMU has it.
    void started() { uart_ = FileDescriptor(); }

    /// Passes on what has arrived in either direction, at most a MiB. Never waits. Returns whether
    /// there may be more.
    bool pass();

private:
    int stream_;
    std::vector<std::byte> buffer_;
    FileDescriptor uart_;
    FileDescriptor here_;
    control::Relay relay_;
};

} // namespace mmioscope::run
