#include "physical_memory.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::guest {

namespace {

constexpr char device[] = "/dev/mem";

FileDescriptor open_device() {
    FileDescriptor file(::open(device, O_RDWR | O_SYNC | O_CLOEXEC));
    if (!file) {
        throw bad_input("cannot open {}: {} (needs root; for ctl see ctl --help)", device,
                        std::strerror(errno));
    }
    return file;
}

} // namespace

PhysicalMemory::PhysicalMemory(PhysicalRange range) {
    const FileDescriptor file = open_device();
    const auto size = static_cast<std::size_t>(range.size);
    void* bytes = ::mmap64(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                           static_cast<off64_t>(range.begin));
    if (bytes == MAP_FAILED) {
        throw bad_input("cannot map {} bytes at {:#x} of {}: {}", range.size, range.begin, device,
                        std::strerror(errno));
    }
    bytes_ = {static_cast<std::byte*>(bytes), size};
}

PhysicalMemory::~PhysicalMemory() {
    ::munmap(bytes_.data(), bytes_.size());
}

// Uses a lock on the device's file: nobody else needs it, and it ends with its holder.
bool PhysicalMemory::claim() {
    claimed_ = open_device();
    return ::flock(claimed_.get(), LOCK_EX | LOCK_NB) == 0;
}

} // namespace mmioscope::guest
