#include "export/output.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::exporting {

namespace fs = std::filesystem;

fs::path final_path(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    return error ? fs::path(path) : real;
}

fs::path name_beside(const fs::path& path) {
    for (unsigned n = 0;; ++n) {
        fs::path beside = path;
        beside += fmt::format(".{}-{}.part", ::getpid(), n);
        if (!fs::exists(fs::symlink_status(beside))) {
            return beside;
        }
    }
}

Output::Output(const std::string& path) : name_(path == "-" ? "standard output" : path) {
    if (path == "-") {
        return;
    }
    path_ = final_path(path);
    std::error_code ignored;
    const fs::file_status status = fs::status(path_, ignored);
    if (fs::is_directory(status)) {
        throw bad_input("cannot write {}: it is a folder", path);
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    } else {
        unfinished_ = std::make_unique<Unfinished>(name_beside(path_));
        file_ = FileDescriptor(
            ::open(unfinished_->path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    }
    if (!file_) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
}

int Output::fd() const {
    return file_ ? file_.get() : STDOUT_FILENO;
}

bool Output::terminal() const {
    return ::isatty(fd()) != 0;
}

void Output::finish() {
    if (unfinished_) {
        unfinished_->keep_as(path_);
    }
}

} // namespace mmioscope::exporting
