// Separates the guest's console and the stream, which share a UART, into two files.
#pragma once

#include "system/side_file.hpp"
#include "wire/shared_wire.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::run {

class SharedConsole {
public:
    /// File descriptors, which belong to the caller: QEMU's output, and the two files.
    SharedConsole(int wire, int console, int stream);

    /// Passes on what has arrived by now. Throws Error (failed).
    void pass();
    /// Whether all of the console is in its file.
    bool whole() const { return console_.whole(); }

private:
    int from_;
    SideFile console_;
    int stream_;
    std::uint64_t read_ = 0; ///< bytes of the wire
    std::vector<std::byte> buffer_;
    wire::SharedWire wire_;
};

} // namespace mmioscope::run
