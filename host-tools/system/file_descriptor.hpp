// An open file that closes itself.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace mmioscope {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor();

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// Opens `path` for reading. Throws Error (bad_input) with the path and the reason.
FileDescriptor open_input(const std::string& path);

/// Creates or empties `path`, open for reading and writing. Throws Error (bad_input).
FileDescriptor create_output(const std::string& path);

/// Appends all of `bytes`. Throws Error (failed) that names `what`.
void append(int fd, std::span<const std::byte> bytes, const char* what);

/// A nameless file in $TMPDIR (or /tmp) that is deleted with its last descriptor.
FileDescriptor temporary_file();

/// A nameless file in memory of `size` bytes, which child processes inherit.
FileDescriptor memory_file(const char* label, std::size_t size);

} // namespace mmioscope
