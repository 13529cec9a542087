// QEMU's control socket. When the guest powers off or resets the machine, QEMU stops it and reports
// this, so that nothing is lost between two boots.
#pragma once

#include "system/file_descriptor.hpp"

#include <optional>
#include <string>

namespace mmioscope::run {

class Monitor {
public:
    /// Creates the socket; child processes inherit its other end. Throws Error.
    Monitor();

    /// The other end, for QEMU.
    int for_qemu() const { return theirs_.get(); }

    /// Why the machine has stopped.
    enum class Halt { off, reset };
    /// Nothing while the machine runs.
    std::optional<Halt> poll();

    /// After a halt: resets the machine, and lets it run until the next one. Throws Error (failed)
    /// if QEMU does not.
    void restart();

private:
    void send(const std::string& line);
    void read_lines();
    void read_line(const std::string& line);
    void wait_for(const bool& done, const char* what);

    FileDescriptor ours_;
    FileDescriptor theirs_;
    std::string text_; ///< received, but without line end so far
    std::optional<Halt> halt_;
    bool reset_ = false;   ///< QEMU has reset the machine
    bool running_ = false; ///< and the machine runs again
};

} // namespace mmioscope::run
