#include "system/distinct_output.hpp"

#include "system/error.hpp"
#include "system/part_path.hpp"
#include "system/replaced_file.hpp"
#include "system/units.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

namespace mmioscope {

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

} // namespace mmioscope
