#include "system/part_path.hpp"

#include "system/escape.hpp"
#include "system/file_descriptor.hpp"
#include "system/message.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

namespace mmioscope {

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
