#include "system/program_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace mmioscope {

bool is_executable(const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_in_path(std::string_view name) {
    const char* path = std::getenv("PATH");
    for (std::string_view rest = path ? path : ""; !rest.empty();) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
        std::string program = std::string(folder).append("/").append(name);
        if (is_executable(program)) {
            return program;
        }
    }
    return std::nullopt;
}

} // namespace mmioscope
