#include "physical_memory.hpp"

#include "lib/error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::guest {

namespace {
constexpr char device[] = "/dev/mem";
}

PhysicalMemory::PhysicalMemory(PhysicalRange range)
    : file_(::open(device, O_RDWR | O_SYNC | O_CLOEXEC)) {
    if (!file_) {
        throw bad_input("cannot open {}: {} (it takes root, or: setcap cap_sys_rawio+ep "
                        "mmioscope-guest; chmod a+rw {})",
                        device, std::strerror(errno), device);
    }
    const auto size = static_cast<std::size_t>(range.size);
    void* bytes = ::mmap64(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
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

// By the device's own lock, which nobody else has a use for, and which ends with its holder.
bool PhysicalMemory::claim() {
    return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
}

} // namespace mmioscope::guest
