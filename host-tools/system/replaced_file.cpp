#include "system/replaced_file.hpp"

#include "system/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace mmioscope {

namespace {

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::optional<struct stat> status_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

Error unwritable(const std::string& path, int error) {
    return bad_input("cannot write {}: {}", path, std::strerror(error));
}

} // namespace

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    return real ? real.get() : path;
}

bool is_replaceable(const std::string& path) {
    const std::optional<struct stat> status = status_of(path);
    const bool alias =
        (path.starts_with("/dev/") || path.starts_with("/proc/")) && real_path(path) != path;
    const bool ours = !status || ::geteuid() == 0 || status->st_uid == ::geteuid();
    return (!status || S_ISREG(status->st_mode)) && ours && !alias;
}

// The process's number makes a clash unlikely; O_EXCL makes it harmless.
std::string name_beside(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    struct stat status {};
    for (unsigned n = 0;; ++n) {
        std::string name = (folder / fmt::format(".mmioscope-{}-{}.part", ::getpid(), n)).string();
        if (::lstat(name.c_str(), &status) != 0) {
            return name;
        }
    }
}

ReplacedFile::ReplacedFile(const std::string& path) : path_(real_path(path)) {
    old_ = status_of(path_);
    if (old_) {
        lock_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
        if (!lock_) {
            throw unwritable(path, errno);
        }
        lock_output(lock_.get(), path);
    }
    create();
}

ReplacedFile::ReplacedFile(const std::string& path, int original) : path_(real_path(path)) {
    struct stat status {};
    if (::fstat(original, &status) != 0) {
        throw unwritable(path, errno);
    }
    old_ = status;
    create();
}

ReplacedFile::~ReplacedFile() {
    if (file_) {
        ::unlink(beside_.c_str());
    }
}

void ReplacedFile::create() {
    const mode_t mode = old_ ? 0600 : 0666;
    do { // somebody may take the name in between
        beside_ = name_beside(path_);
        file_ = FileDescriptor(
            ::open(beside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    } while (!file_ && errno == EEXIST);
    if (!file_) {
        throw unwritable(path_, errno);
    }
    if (old_) {
        keep_mode_and_owner();
    }
}

// The owner first: a change of it clears bits of the mode.
void ReplacedFile::keep_mode_and_owner() {
    struct stat ours {};
    const bool known = ::fstat(file_.get(), &ours) == 0;
    const bool given = known && (ours.st_uid != old_->st_uid || ours.st_gid != old_->st_gid);
    if (!known || (given && ::fchown(file_.get(), old_->st_uid, old_->st_gid) != 0) ||
        ::fchmod(file_.get(), old_->st_mode & 07777) != 0) {
        const int error = errno;
        ::unlink(beside_.c_str());
        throw bad_input("cannot write {}: its owner cannot be kept: {}", path_,
                        std::strerror(error));
    }
}

bool ReplacedFile::is_unchanged() const {
    const std::optional<struct stat> now = status_of(path_);
    return now && old_ ? same_file(*now, *old_) : !now && !old_;
}

void ReplacedFile::commit() {
    if (!is_unchanged()) {
        throw failure("cannot write {}: it was replaced meanwhile", path_);
    }
    int result = ::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, path_.c_str(),
                             old_ ? 0u : RENAME_NOREPLACE);
    if (result != 0 && errno == EINVAL) { // the file system knows no such flag
        result = ::rename(beside_.c_str(), path_.c_str());
    }
    if (result != 0) {
        throw failure("cannot write {}: {}", path_, std::strerror(errno));
    }
    file_ = FileDescriptor();
}

} // namespace mmioscope
