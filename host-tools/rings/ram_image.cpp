#include "rings/ram_image.hpp"

#include "rings/black_box.hpp"
#include "system/compressed_source.hpp"
#include "system/error.hpp"
#include "system/spool.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::rings {

namespace {

constexpr std::uint64_t most_physical = std::uint64_t{16} << 30; ///< more than ARMv7 boards have

} // namespace

FileDescriptor RamImage::open(const std::string& path, const Passed& passed) {
    struct stat status {};
    if (path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
        FileDescriptor file = open_input(path);
        const RamImage image(file, path);
        if (!is_compressed(image.bytes()) || find_area(image.bytes(), std::nullopt)) {
            return file;
        }
    }
    return open_or_spool(path, most_physical, passed);
}

RamImage::RamImage(const std::string& path, const Passed& passed)
    : RamImage(open(path, passed), path) {}

RamImage::RamImage(const FileDescriptor& file, const std::string& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw bad_input("{}: is not a regular file, so it cannot be mapped", path);
    }
    if (status.st_size == 0) {
        throw bad_input("{}: is empty", path);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* bytes =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
    if (bytes == MAP_FAILED) {
        throw bad_input("{}: cannot be mapped: {}", path, std::strerror(errno));
    }
    bytes_ = {static_cast<std::byte*>(bytes), size};
}

RamImage::~RamImage() {
    ::munmap(bytes_.data(), bytes_.size());
}

} // namespace mmioscope::rings
