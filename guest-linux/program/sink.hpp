// Bytes on their way to a pipe or a socket that may take its time.
#pragma once

#include "system/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace mmioscope::guest {

class Sink {
public:
    /// Opens again what was lost for this reason, and waits for that. Throws Error.
    using Reopen = std::function<FileDescriptor(const std::string& why)>;

    /// Writes to `file`, which users call `name`. `stopping` tells whether the recording is to end.
    /// Without `reopen` a loss is the end.
    Sink(FileDescriptor file, std::string name, std::function<bool()> stopping, Reopen reopen = {})
        : file_(std::move(file)), name_(std::move(name)), stopping_(std::move(stopping)),
          reopen_(std::move(reopen)) {}

    /// All of `bytes`, however long that takes; once the recording is to end, as long as the other
    /// side goes on taking some. Returns how many it has taken; fewer than all: then it was lost,
    /// is open again, and how many of them it has got nobody knows. Throws Error (failed).
    [[nodiscard]] std::size_t write(std::span<const std::uint8_t> bytes);

    /// Nothing follows. Of a connection: comes back when the other side has closed it, too, which a
    /// listener does when it has all, or in 3 s. Whoever then turns the machine off takes nothing
    /// along. Throws Error (failed) if something has not arrived by then.
    void finish();

    /// How often the other side was lost.
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
