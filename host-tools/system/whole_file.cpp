#include "system/whole_file.hpp"

#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/open_source.hpp"

namespace mmioscope {

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
