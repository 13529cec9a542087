#include "record/trace_source.hpp"

#include "abi/container.hpp"
#include "rings/recorded_boot.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/open_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace mmioscope::record {

namespace {

bool is_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool begins_as_trace(int fd) {
    std::array<std::byte, sizeof abi::file_magic> first{};
    const off_t at = ::lseek(fd, 0, SEEK_CUR);
    const std::size_t size = open_source(fd)->read(first.data(), first.size());
    ::lseek(fd, at, SEEK_SET);
    return rings::is_trace_file(std::span(first).first(size));
}

} // namespace

void check_no_trace(const wire::Address& source) {
    struct stat status {};
    FileDescriptor file;
    if (source.kind == wire::Kind::path && ::stat(source.path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
        file = open_input(source.path);
    }
    const int fd = source.kind == wire::Kind::standard_input ? STDIN_FILENO : file.get();
    if (is_file(fd) && begins_as_trace(fd)) {
        throw bad_input("{}: this is a trace, not a stream; read it with `mmioscope print`",
                        source.path.empty() ? "standard input" : source.path);
    }
}

} // namespace mmioscope::record
