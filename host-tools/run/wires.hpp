// Connects QEMU's UARTs to the files that the rest of a run reads.
#pragma once

#include "run/early_requests.hpp"
#include "run/run_files.hpp"
#include "system/part_path.hpp"
#include "wire/capture.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mmioscope::run {

// Separates the guest's console and the stream, which share a UART, into two files.

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

class Wires {
public:
    Wires(const Options& options, const RunFiles& files) {
        if (!options.control.empty()) {
            control_.emplace(options.control, files.stream.get());
        }
        if (options.stream_shared) {
            shared_.emplace(files.stream.get(), files.console_log.get(), files.unshared.get());
        }
    }

    /// What QEMU inherits.
    QemuFiles for_qemu(QemuFiles files) const {
        files.stream_socket = control_ ? control_->for_qemu() : -1;
        return files;
    }
    /// Call it when QEMU has it.
    void started() {
        if (control_) {
            control_->started();
        }
    }

    /// Whether all of the console is in its file.
    bool whole() const { return !shared_ || shared_->whole(); }

    /// Passes on what has arrived, or a part of it: then returns true. Never waits. Throws Error
    /// (failed).
    bool pass() {
        const bool more = control_ && control_->pass();
        if (shared_) {
            shared_->pass();
        }
        return more;
    }

private:
    std::optional<ControlWire> control_;
    std::optional<SharedConsole> shared_;
};

} // namespace mmioscope::run
