#include "run/guest_memory.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

// A page that the disk has no room for would end both programs by SIGBUS. A file system that cannot
// reserve room is asked how much it has. The file had `before` bytes.
void reserve(int fd, std::uint64_t before, std::uint64_t size, const std::string& path) {
    int error = ::fallocate(fd, 0, 0, static_cast<off_t>(size)) == 0 ? 0 : errno;
    struct stat status {};
    struct statvfs disk {};
    if ((error == EOPNOTSUPP || error == ENOSYS) && ::fstat(fd, &status) == 0 &&
        ::fstatvfs(fd, &disk) == 0) {
        constexpr std::uint64_t block = 512; // of st_blocks
        const std::uint64_t has = static_cast<std::uint64_t>(status.st_blocks) * block;
        const std::uint64_t room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
        error = has + room >= size ? 0 : ENOSPC;
    }
    if (error != 0) {
        (void)!::ftruncate(fd, static_cast<off_t>(before));
        throw bad_input("--ram {}: the RAM has {} bytes: {}", path, size, std::strerror(error));
    }
}

void set_size(int fd, std::uint64_t size, const std::string& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_size != 0 && static_cast<std::uint64_t>(status.st_size) != size)) {
        throw bad_input("--ram {}: the file must be empty or have {} bytes, like the RAM", path,
                        size);
    }
    if (::ftruncate(fd, static_cast<off_t>(size)) != 0) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
    reserve(fd, static_cast<std::uint64_t>(status.st_size), size, path);
}

FileDescriptor ram_file(const std::string& path, std::uint64_t size) {
    if (path.empty()) {
        return memory_file("guest-ram", size);
    }
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    FileDescriptor file = open_output(path);
    ::fcntl(file.get(), F_SETFD, 0); // QEMU inherits it
    try {
        set_size(file.get(), size, path);
    } catch (const Error&) {
        if (is_new) {
            ::unlink(path.c_str());
        }
        throw;
    }
    return file;
}

} // namespace

GuestMemory::GuestMemory(const Board& board, std::uint64_t size, const std::string& path)
    : base_(board.ram_base), size_(size), file_(ram_file(path, size)) {
    void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (bytes == MAP_FAILED) {
        throw failure("cannot map {} bytes of guest memory: {}", size, std::strerror(errno));
    }
    bytes_ = static_cast<std::byte*>(bytes);
}

GuestMemory::~GuestMemory() {
    ::munmap(bytes_, size_);
}

std::span<std::byte> GuestMemory::at(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t offset = address - base_;
    if (address < base_ || offset > size_ || size > size_ - offset) {
        return {};
    }
    return {bytes_ + offset, size};
}

} // namespace mmioscope::run
