// QEMU's control socket. When the guest ends or resets the machine, QEMU stops it and says so, so
// that nothing is lost between two boots.
#pragma once

#include "system/file_descriptor.hpp"

#include <optional>
#include <string>

namespace mmioscope::run {

class Monitor {
public:
    /// Makes the socket; its other end is inherited by child processes. Throws Error.
    Monitor();

    /// The other end, for QEMU.
    int for_qemu() const { return theirs_.get(); }

    /// Why the machine has come to stand still.
    enum class Halt { off, reset };
    /// Nothing while it runs.
    std::optional<Halt> poll();

    /// After a halt: resets the machine, and lets it run until the next one. Throws Error (failed)
    /// if QEMU does not do so.
    void restart();

private:
    void send(const std::string& line);
    void take_lines();
    void take_line(const std::string& line);
    void wait_for(const bool& done, const char* what);

    FileDescriptor ours_;
    FileDescriptor theirs_;
    std::string text_; ///< received, up to a line's end that has not come yet
    std::optional<Halt> halt_;
    bool reset_ = false;   ///< QEMU has reset the machine
    bool running_ = false; ///< and it goes on
};

} // namespace mmioscope::run
