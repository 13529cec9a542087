#include "export/output.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace mmioscope::exporting {

Output::Output(const std::string& path) : name_(path == "-" ? "standard output" : path) {
    if (path == "-") {
        return;
    }
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
        throw bad_input("cannot write {}: it is a folder", path);
    }
    if (is_replaceable(path)) {
        replaced_.emplace(path);
        unfinished_.emplace(replaced_->beside());
        return;
    }
    // Without effect on a pipe or a device: it empties another name of an open file.
    file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!file_) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
}

int Output::fd() const {
    return replaced_ ? replaced_->fd() : file_ ? file_.get() : STDOUT_FILENO;
}

bool Output::terminal() const {
    return ::isatty(fd()) != 0;
}

void Output::finish() {
    if (replaced_) {
        replaced_->commit();
    }
}

} // namespace mmioscope::exporting
