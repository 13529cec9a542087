// Writes bytes to a pipe or a socket that may be slow.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace mmioscope::guest {

class Sink {
public:
    /// Opens a lost connection again, and waits for it. Gets the reason for the loss. Throws Error.
    using Reopen = std::function<FileDescriptor(const std::string& why)>;

    /// Writes to `file`; `name` is its name in messages. `stopping` returns whether the recording
    /// should end. Without `reopen`, a lost connection is an error.
    Sink(FileDescriptor file, std::string name, std::function<bool()> stopping, Reopen reopen = {})
        : file_(std::move(file)), name_(std::move(name)), stopping_(std::move(stopping)),
          reopen_(std::move(reopen)) {}

    /// Writes all of `bytes`, however long that takes; if the recording should end, as long as the
    /// other side keeps taking some. Returns how many the kernel took. If these are not all, the
    /// connection was lost and is open again, and it is unknown how many arrived. Throws Error
    /// (failed).
    [[nodiscard]] std::size_t write(std::span<const std::uint8_t> bytes);

    /// Ends the output. For a connection, returns when the other side has closed it, too, or after
    /// 3 s: a listener closes it when it has everything, so the machine may be turned off then.
    /// Throws Error (failed) if something has not arrived by then.
    void finish();

    /// How often the connection was lost.
    unsigned breaks() const { return breaks_; }

private:
    static constexpr int turn = 100;         // ms
    static constexpr unsigned patience = 30; // turns

    void wait();
    void lose(const std::string& why);

    FileDescriptor file_;
    std::string name_;
    std::function<bool()> stopping_;
    Reopen reopen_;
    unsigned breaks_ = 0;
};

} // namespace mmioscope::guest
