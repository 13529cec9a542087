// The files of a run. Files that the user did not name are temporary.
#pragma once

#include "run/early_requests.hpp"
#include "run/plan.hpp"
#include "run/qemu_command.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"
#include "wire/wire_frames.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::run {

struct RunFiles {
    /// Creates them. Throws Error (bad_input) that names a file that it cannot create.
    explicit RunFiles(const Plan& plan);

    /// `monitor`: QEMU's end of its control socket, or -1.
    QemuFiles for_qemu(int ram, int monitor) const;

    /// QEMU has ended. False if a file that it writes has no room left, after a message that names
    /// it.
    bool whole(const Options& options) const;

    FileDescriptor tree;       ///< for the hypervisor
    FileDescriptor boot_image; ///< the hypervisor; none if QEMU takes its ELF file
    FileDescriptor trace;      ///< of the first boot
    FileDescriptor console_log;
    FileDescriptor hypervisor_log;
    FileDescriptor stream;     ///< none if not requested
    FileDescriptor unshared;   ///< the stream without the console, if they share a UART
    FileDescriptor access_log; ///< none if not requested
    FileDescriptor messages;   ///< QEMU's own

private:
    void inherit_all() const;
};

/// The trace file of the `boot`th boot. Throws Error (bad_input) if it cannot be written.
FileDescriptor trace_file(const Options& options, unsigned boot);

// QEMU's access log: QEMU writes one file, which is split into one for each boot at the end.

class AccessLogs {
public:
    /// `fd` is the log at `path`, and belongs to the caller; -1 if there is none.
    AccessLogs(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    /// The machine is stopped: what QEMU writes from now on belongs to the next boot.
    void end_boot();

    /// QEMU has ended: leaves the first boot in the log, and moves the others to FILE.2, FILE.3 ...
    /// Throws Error if one cannot be written.
    void split() const;

private:
    int fd_;
    std::string path_;
    std::vector<std::uint64_t> ends_; ///< of each boot, in bytes
};

// The output of a run at the end of each boot, and at its own end.

/// Whether to print the trace during the recording.
bool prints(const Options& options);

/// Whether to show a progress line: not if the trace or the guest's console is on the terminal.
bool shows_progress(const Options& options);

class Closing {
public:
    /// The caller owns both.
    Closing(const Plan& plan, const RunFiles& files) : plan_(plan), files_(files) {}

    /// A boot has ended and another one follows: prints its tables and verdict.
    void boot_over(const TraceResult& result);

    /// The run ended before the hypervisor was ready: prints the reason, with the ends of the logs.
    Status not_started(const RunEnd& stop);

    /// Prints the table, the end of the console and the verdict on standard output. The
    /// hypervisor's own report on why it stopped goes to standard error.
    Status end(const RunEnd& stop, const TraceResult& result, std::uint64_t not_printed);

private:
    void print_tables(const TraceResult& result) const;
    void print_verdict(const TraceResult& result, const std::string& why, abi::Ending ending);
    void print_total() const;

    const Plan& plan_;
    const RunFiles& files_;
    unsigned boots_ = 0;      ///< number that have ended
    unsigned incomplete_ = 0; ///< number of those incomplete
};

// Connects QEMU's UARTs to the files that the rest of a run reads.

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
