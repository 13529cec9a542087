#include "system/replaced_file.hpp"

#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/message.hpp"
#include "system/units.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

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

namespace {

/// The file behind a name, with links of both kinds resolved.
struct Identity {
    dev_t device;
    ino_t number;
    bool operator==(const Identity&) const = default;
};

// Nothing if it is not a regular file.
std::optional<Identity> identity(const std::string& path, int standard) {
    struct stat status {};
    const int result = path == "-" ? ::fstat(standard, &status) : ::stat(path.c_str(), &status);
    return result == 0 && S_ISREG(status.st_mode)
               ? std::optional(Identity{status.st_dev, status.st_ino})
               : std::nullopt;
}

} // namespace

void check_distinct(const std::string& output, const std::vector<std::string>& inputs) {
    check_distinct(output, [&] { return inputs; });
}

void check_distinct(const std::string& output,
                    const std::function<std::vector<std::string>()>& inputs) {
    const std::optional<Identity> written = identity(output, STDOUT_FILENO);
    for (const std::string& input : written ? inputs() : std::vector<std::string>()) {
        if (identity(input, STDIN_FILENO) == written) {
            throw bad_input("{}: is also an input; choose another output",
                            output == "-" ? "standard output" : output);
        }
    }
}

namespace {

// Where a file that does not exist will be.
std::string future_path(const std::string& path) {
    const std::filesystem::path name(path);
    const std::string folder = name.parent_path().string();
    return (std::filesystem::path(real_path(folder.empty() ? "." : folder)) / name.filename())
        .string();
}

bool same_output(const std::string& a, const std::string& b) {
    const auto first = identity(a, STDOUT_FILENO);
    const auto second = identity(b, STDOUT_FILENO);
    struct stat status {};
    const auto is_new = [&status](const std::string& path) {
        return path != "-" && ::lstat(path.c_str(), &status) != 0;
    };
    return first || second ? first == second
                           : is_new(a) && is_new(b) && future_path(a) == future_path(b);
}

// Whether `other` is a later file of `path`. Its number is one of the words between dots.
bool is_later_file(const std::string& path, const std::string& other) {
    const std::string name = std::filesystem::path(other).filename().string();
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find('.', at), name.size());
        const auto number = parse_number(std::string_view(name).substr(at, end - at));
        if (number && *number > 1 && *number <= UINT32_MAX &&
            same_output(part_path(path, static_cast<unsigned>(*number)), other)) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

bool clash(const NamedOutput& a, const NamedOutput& b) {
    return same_output(a.path, b.path) ||
           (a.numbered == Numbered::yes && is_later_file(a.path, b.path)) ||
           (b.numbered == Numbered::yes && is_later_file(b.path, a.path));
}

// A folder that is full is found out later.
void check_writable(const NamedOutput& output) {
    const std::string& path = output.path;
    if (path == "-" && !output.may_be_standard) {
        throw bad_input("{} -: standard output has the messages: name a file", output.option);
    }
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (!path.empty() && path != "-" && ::access(path.c_str(), W_OK) != 0 &&
        (errno != ENOENT || ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)) {
        throw bad_input("cannot write {}: {}", path, std::strerror(errno));
    }
}

} // namespace

void check_distinct_outputs(const std::vector<NamedOutput>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        check_writable(outputs[i]);
        for (std::size_t j = 0; j < i; ++j) {
            const NamedOutput& a = outputs[j];
            const NamedOutput& b = outputs[i];
            if (!a.path.empty() && !b.path.empty() && clash(a, b)) {
                throw bad_input("{} {} and {} {} are one file: choose another one", a.option,
                                a.path, b.option, b.path);
            }
        }
    }
}

namespace {

// The name of the next file if none is compressed.
std::optional<std::string> behind(const std::filesystem::path& name, unsigned number) {
    const std::string mark = number == 1 ? "" : fmt::format(".{}", number);
    const std::string stem = name.stem().string();
    // "boot.2": the first one, "boot", has no suffix.
    const std::string first = name.extension() == mark ? stem
                              : stem.ends_with(mark)   ? stem.substr(0, stem.size() - mark.size()) +
                                                           name.extension().string()
                                                     : "";
    if (first.empty()) {
        return std::nullopt;
    }
    return part_path((name.parent_path() / first).string(), number + 1);
}

} // namespace

std::string part_path(const std::string& path, unsigned number) {
    if (number == 1) {
        return path;
    }
    const std::filesystem::path whole(path);
    std::filesystem::path name = whole.stem();
    name += fmt::format(".{}", number);
    name += whole.extension();
    return (whole.parent_path() / name).string();
}

std::vector<std::string> next_part_paths(const std::string& path, unsigned number) {
    constexpr std::string_view packed = ".zst";
    std::vector<std::string> paths;
    for (const std::string suffix : {".zst", ".gz", ".xz", ".bz2"}) {
        const std::string plain = path.substr(0, path.size() - suffix.size());
        const bool has = path.ends_with(suffix);
        if (const auto next = has ? behind(plain, number) : std::nullopt) {
            paths = {*next + suffix, *next};
        }
    }
    if (const std::optional<std::string> next = behind(path, number)) {
        paths.push_back(*next);
        paths.push_back(*next + std::string(packed));
    }
    return paths;
}

std::string saved_note(const std::string& path, unsigned files) {
    if (path.empty()) {
        return "";
    }
    const std::string first = for_terminal(path);
    return files == 1 ? fmt::format("trace saved in {}\n", first)
                      : fmt::format("trace saved in {} to {}, {} files\n", first,
                                    for_terminal(part_path(path, files)), files);
}

void SideFile::append(std::span<const std::byte> bytes) {
    if (!whole_) {
        return;
    }
    try {
        mmioscope::append(fd_, bytes, name_.c_str());
    } catch (const Error& error) {
        whole_ = false;
        print_message("mmioscope: {}; the recording goes on without it\n", error.what());
    }
}

} // namespace mmioscope
