// Bytes on their way to a pipe or a socket that may take its time.
#pragma once

#include "lib/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace mmioscope::guest {

class Sink {
public:
    /// Writes to `file`, which users call `name`. `stopping` tells whether the recording is to end.
    Sink(FileDescriptor file, std::string name, std::function<bool()> stopping)
        : file_(std::move(file)), name_(std::move(name)), stopping_(std::move(stopping)) {}

    /// All of `bytes`, however long that takes; once the recording is to end, as long as the other
    /// side goes on taking some. Throws Error (failed).
    void write(std::span<const std::uint8_t> bytes);

    int fd() const { return file_.get(); }
    std::uint64_t written() const { return written_; }

private:
    void wait();

    FileDescriptor file_;
    std::string name_;
    std::function<bool()> stopping_;
    std::uint64_t written_ = 0;
};

} // namespace mmioscope::guest
