#include "system/whole_file.hpp"

#include "system/byte_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

namespace mmioscope {

std::string whole_file(const std::string& path, const char* what) {
    constexpr std::size_t most = 64u << 20;
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
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
    return bytes;
}

} // namespace mmioscope
