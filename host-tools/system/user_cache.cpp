#include "system/user_cache.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mmioscope {

namespace {

namespace fs = std::filesystem;

// Whether it is a folder that only we can change.
bool is_ours(const std::string& folder) {
    struct stat is {};
    return ::lstat(folder.c_str(), &is) == 0 && S_ISDIR(is.st_mode) && is.st_uid == ::geteuid() &&
           (is.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void remove_oldest(const std::string& folder, std::size_t most) {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem)) {
        std::error_code gone; // somebody else cleans up, too
        files.emplace_back(at->last_write_time(gone), at->path());
    }
    std::ranges::sort(files);
    for (std::size_t i = 0; i + most < files.size(); ++i) {
        fs::remove(files[i].second, problem);
    }
}

} // namespace

std::string user_cache_folder(const char* name) {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const std::string parent = cache != nullptr && cache[0] == '/' ? cache
                               : home != nullptr && home[0] == '/' ? std::string(home) + "/.cache"
                                                                   : "";
    return parent.empty() ? "" : parent + "/mmioscope/" + name;
}

UserCache::UserCache(const std::string& folder) {
    if (folder.empty()) {
        return;
    }
    const fs::path parent = fs::path(folder).parent_path();
    std::error_code problem;
    fs::path there = parent;
    while (!fs::exists(there, problem) && there.has_relative_path()) {
        there = there.parent_path();
    }
    struct stat is {};
    if (::stat(there.c_str(), &is) != 0 || is.st_uid != ::geteuid()) {
        return; // sudo keeps HOME: root leaves nothing in a user's folders
    }
    fs::create_directories(parent, problem);
    ::mkdir(folder.c_str(), 0700);
    if (is_ours(folder)) {
        folder_ = folder;
    }
}

std::optional<std::vector<std::byte>> UserCache::find(const std::string& key) const {
    if (folder_.empty()) {
        return std::nullopt;
    }
    const std::string path = folder_ + "/" + key;
    std::string text;
    try {
        text = whole_file(path, "cache");
    } catch (const Error&) {
        return std::nullopt;
    }
    const auto file = std::as_bytes(std::span(text));
    std::uint32_t sum = 0; // it comes first
    if (file.size() < sizeof sum) {
        return std::nullopt;
    }
    std::memcpy(&sum, file.data(), sizeof sum);
    const auto bytes = file.subspan(sizeof sum);
    if (sum != crc(bytes)) {
        return std::nullopt;
    }
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // it was used now
    return std::vector(bytes.begin(), bytes.end());
}

void UserCache::keep(const std::string& key, std::span<const std::byte> bytes) const {
    if (folder_.empty()) {
        return;
    }
    const std::uint32_t sum = crc(bytes);
    try {
        ReplacedFile to(folder_ + "/" + key);
        append(to.fd(), std::as_bytes(std::span(&sum, 1)), "the cache");
        append(to.fd(), bytes, "the cache");
        to.commit();
    } catch (const Error&) { // no room, or another run keeps the same
        return;
    }
    remove_oldest(folder_, most);
}

std::string UserCache::place(const std::string& key) const {
    if (folder_.empty()) {
        return "";
    }
    remove_oldest(folder_, most - 1);
    return folder_ + "/" + key;
}

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
