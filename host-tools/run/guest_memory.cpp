#include "run/guest_memory.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

FileDescriptor ram_file(const std::string& path, std::uint64_t size) {
    if (path.empty()) {
        return memory_file("guest-ram", size);
    }
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT, 0666)); // QEMU inherits it
    if (!file) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_size != 0 && static_cast<std::uint64_t>(status.st_size) != size)) {
        throw bad_input("--ram {}: the file must be empty or have {} bytes, like the RAM", path,
                        size);
    }
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
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
