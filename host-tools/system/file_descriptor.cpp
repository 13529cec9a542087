#include "system/file_descriptor.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"

#include <fcntl.h>
#include <sys/file.h>
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

void lock_output(int fd, const std::string& path) {
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw bad_input("cannot write {}: another output, or another program, writes it", path);
    }
}

namespace {

bool names(const std::string& path, const struct stat& file) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && status.st_dev == file.st_dev &&
           status.st_ino == file.st_ino;
}

} // namespace

// Whoever had the lock may have put another file in its place before he gave it up.
FileDescriptor open_output(const std::string& path) {
    for (;;) {
        FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        struct stat status {};
        if (!file || ::fstat(file.get(), &status) != 0) {
            throw bad_input("cannot write {}: {}", path, std::strerror(errno));
        }
        if (!S_ISREG(status.st_mode)) {
            return file;
        }
        lock_output(file.get(), path);
        if (names(path, status)) {
            return file;
        }
    }
}

FileDescriptor create_output(const std::string& path) {
    FileDescriptor file = open_output(path);
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::ftruncate(file.get(), 0) != 0) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
    return file;
}

// The wrong way round, so that a read or a write fails (EBADF). open() takes the lowest number.
void open_standard_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) < 0) {
            (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
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

namespace {

std::string all_of(ByteSource& source, const std::string& path, const char* what) {
    constexpr std::size_t most = 64u << 20;
    std::string bytes;
    std::size_t got = 0;
    do {
        const std::size_t at = bytes.size();
        bytes.resize(at + (64u << 10));
        got = source.read(bytes.data() + at, bytes.size() - at);
        bytes.resize(at + got);
    } while (got != 0 && bytes.size() <= most);
    if (bytes.size() > most) {
        throw bad_input("{}: larger than 64 MiB, so it is not a {}", path, what);
    }
    if (const std::string problem = source.problem(); !problem.empty()) {
        throw bad_input("{}: {}", path, problem);
    }
    return bytes;
}

} // namespace

std::string whole_file(const std::string& path, const char* what) {
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
    return all_of(source, path, what);
}

std::string whole_text(const std::string& path, const char* what) {
    const FileDescriptor file = open_input(path);
    return all_of(*open_source(file.get()), path, what);
}

} // namespace mmioscope
