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
    /// Listens at the unix socket `path`. `stream`, the file, stays the caller's. Throws Error.
    ControlWire(const std::string& path, int stream);

    /// The UART's end, which QEMU inherits.
    int for_qemu() const { return uart_.get(); }
    /// QEMU has it now.
    void started() { uart_ = FileDescriptor(); }

    /// Hands on what has come either way; until there is nothing more. Never waits.
    void pass();

private:
    int stream_;
    std::vector<std::byte> buffer_;
    FileDescriptor uart_;
    FileDescriptor here_;
    control::Relay relay_;
};

} // namespace mmioscope::run
