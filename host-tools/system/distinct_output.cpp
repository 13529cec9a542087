#include "system/distinct_output.hpp"

#include "system/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>

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

} // namespace mmioscope
