#include "cli/followed_path.hpp"

#include "system/message.hpp"

#include <poll.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace mmioscope::cli {

namespace {

constexpr int moment_ms = 100;

// A name in a folder that does not exist is a mistake; whoever opens it says so.
bool may_come(const std::string& path) {
    const bool missing = errno == ENOENT;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    return missing && (folder.empty() || std::filesystem::is_directory(folder, ignored));
}

} // namespace

FollowedPath::FollowedPath(std::string path, const std::function<bool()>& stop)
    : path_(std::move(path)) {
    bool told = false;
    while (path_ != "-" && ::stat(path_.c_str(), &read_) != 0 && may_come(path_) && !stop()) {
        if (!std::exchange(told, true)) {
            print_message("mmioscope: {} is not there yet: waiting for it\n", for_terminal(path_));
        }
        ::poll(nullptr, 0, moment_ms);
    }
}

bool FollowedPath::is_made_anew() {
    struct stat now {};
    if (path_ == "-" || !S_ISREG(read_.st_mode) || ::stat(path_.c_str(), &now) != 0) {
        return false; // a removed file may still grow
    }
    const bool other = now.st_dev != read_.st_dev || now.st_ino != read_.st_ino;
    const bool shorter = !other && now.st_size < read_.st_size;
    if (!other && !shorter) {
        read_ = now;
    }
    return std::exchange(suspected_, other || shorter) && (other || shorter);
}

} // namespace mmioscope::cli
