#include "system/spool.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"

#include <unistd.h>

#include <vector>

namespace mmioscope {

FileDescriptor spooled(ByteSource& source, const std::string& name) {
    FileDescriptor copy = temporary_file();
    std::vector<std::byte> block(1 << 20);
    for (std::size_t got = 0; (got = source.read(block.data(), block.size())) > 0;) {
        append(copy.get(), std::span(block.data(), got), "a temporary file");
    }
    if (!source.problem().empty()) {
        throw bad_input("{}: {}", name, source.problem());
    }
    ::lseek(copy.get(), 0, SEEK_SET);
    return copy;
}

FileDescriptor open_or_spool(const std::string& path) {
    const std::unique_ptr<ByteSource> source = open_source(path);
    if (path != "-" && source->size()) {
        return open_input(path);
    }
    return spooled(*source, path);
}

} // namespace mmioscope
