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
    /// The caller closes it.
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// Opens `path` for reading. Throws Error (bad_input) with the path and the reason.
FileDescriptor open_input(const std::string& path);

/// Creates or empties `path`, open for reading and writing, to write it in place while others may
/// read it. A regular file is locked (flock(2)) as long as it is open: whoever else wants to write
/// it is refused. Throws Error (bad_input); then its content stays.
FileDescriptor create_output(const std::string& path);

/// Likewise, without emptying it.
FileDescriptor open_output(const std::string& path);

/// Locks the file behind `fd`, which `path` names. Throws Error (bad_input) if somebody else has
/// locked it. Does nothing where the file system knows no locks.
void lock_output(int fd, const std::string& path);

/// For main(): opens descriptors 0, 1 and 2 on /dev/null where they are closed, so that no file of
/// the program gets their number. Reading the first, or writing the others, fails as before.
void open_standard_descriptors();

/// Appends all of `bytes`. Throws Error (failed) that names `what`.
void append(int fd, std::span<const std::byte> bytes, const char* what);

/// A nameless file in $TMPDIR (or /tmp) that is deleted with its last descriptor.
FileDescriptor temporary_file();

/// A nameless file in memory of `size` bytes, which child processes inherit.
FileDescriptor memory_file(const char* label, std::size_t size);

// Reads a whole file of limited size, such as files that people write or boot.

/// The bytes of `path`, a file, a device or a pipe. Throws Error (bad_input) that names it; above
/// 64 MiB the message says that it is not a `what`.
std::string whole_file(const std::string& path, const char* what);

/// Likewise, but decompressed if it is compressed (system/open_source.hpp).
std::string whole_text(const std::string& path, const char* what);

} // namespace mmioscope
