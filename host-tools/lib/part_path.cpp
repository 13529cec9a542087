#include "lib/part_path.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace mmioscope {

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

std::string saved_note(const std::string& path, unsigned files) {
    if (path.empty()) {
        return "";
    }
    return files == 1 ? fmt::format("trace saved in {}\n", path)
                      : fmt::format("trace saved in {} to {}, {} files\n", path,
                                    part_path(path, files), files);
}

} // namespace mmioscope
