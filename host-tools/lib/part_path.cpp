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

std::optional<std::string> next_part_path(const std::string& path, unsigned number) {
    const std::string packed = path.ends_with(".zst") ? ".zst" : "";
    const std::filesystem::path name = path.substr(0, path.size() - packed.size());
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
    return part_path((name.parent_path() / first).string(), number + 1) + packed;
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
