#include "system/spool.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace mmioscope {

namespace {

bool is_device(const std::string& path) {
    struct stat status {};
    return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

FileDescriptor spooled(ByteSource& source, const std::string& name, std::uint64_t most,
                       const Passed& passed) {
    FileDescriptor copy = temporary_file();
    std::vector<std::byte> block(1 << 20);
    std::uint64_t size = 0;
    for (std::size_t got = 0; (got = source.read(block.data(), block.size())) > 0;) {
        size += got;
        if (size > most) {
            throw bad_input("{}: larger than {} GiB", name, most >> 30);
        }
        append(copy.get(), std::span(block.data(), got), "a temporary file");
        passed(got);
    }
    if (!source.problem().empty()) {
        throw bad_input("{}: {}", name, source.problem());
    }
    ::lseek(copy.get(), 0, SEEK_SET);
    return copy;
}

} // namespace

FileDescriptor open_or_spool(const std::string& path, std::uint64_t most, const Passed& passed) {
    if (is_device(path)) {
        throw bad_input("{}: is a device, which may have no end: copy what you need to a file",
                        path);
    }
    const std::unique_ptr<ByteSource> source = open_source(path);
    if (path != "-" && source->size()) {
        return open_input(path);
    }
    return spooled(*source, path, most, passed);
}

} // namespace mmioscope
