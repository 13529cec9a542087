#include "system/file_descriptor.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mmioscope {

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

FileDescriptor open_input(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        throw bad_input("cannot read {}: {}", path, std::strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        throw bad_input("cannot read {}: it is a folder", path);
    }
    return file;
}

FileDescriptor create_output(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
    return file;
}

void append(int fd, std::span<const std::byte> bytes, const char* what) {
    while (!bytes.empty()) {
        const ssize_t size = ::write(fd, bytes.data(), bytes.size());
        if (size < 0 && errno != EINTR) {
            throw failure("cannot write {}: {}", what, std::strerror(errno));
        }
        bytes = bytes.subspan(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
}

FileDescriptor temporary_file() {
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder && *folder ? folder : "/tmp") + "/mmioscope-XXXXXX";
    FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file) {
        throw failure("cannot make a temporary file {}: {}", path, std::strerror(errno));
    }
    ::unlink(path.c_str());
    return file;
}

FileDescriptor memory_file(const char* label, std::size_t size) {
    FileDescriptor file(::memfd_create(label, 0));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
        throw failure("cannot make a memory file of {} bytes: {}", size, std::strerror(errno));
    }
    return file;
}

} // namespace mmioscope
