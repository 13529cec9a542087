// A log beside a recording, such as the guest's console: it does not end the recording.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope {

class SideFile {
public:
    /// `fd` belongs to the caller; `name` is its name in messages.
    SideFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    /// Appends all of `bytes`. If that fails, a message says so once, and the rest is dropped.
    void append(std::span<const std::byte> bytes);

    /// Whether all was written.
    bool whole() const { return whole_; }

private:
    int fd_;
    std::string name_;
    bool whole_ = true;
};

} // namespace mmioscope
