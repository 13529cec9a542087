#include "cli/followed_path.hpp"

#include <fmt/format.h>
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
    bool reported = false;
    while (path_ != "-" && ::stat(path_.c_str(), &read_) != 0 && may_come(path_) && !stop()) {
        if (!std::exchange(reported, true)) {
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

namespace {

constexpr std::uint64_t worth_telling = 1 << 20; ///< anything smaller is read at once

class Watched : public ByteSource {
public:
    Watched(std::unique_ptr<ByteSource> source, ReadProgress& progress)
        : source_(std::move(source)), progress_(progress) {}

    std::size_t read(void* to, std::size_t size) override {
        return counted(source_->read(to, size));
    }
    std::size_t read_some(void* to, std::size_t size) override {
        return counted(source_->read_some(to, size));
    }
    std::optional<std::uint64_t> size() const override { return source_->size(); }
    void seek(std::uint64_t offset) override { source_->seek(offset); }
    bool grows() const override { return source_->grows(); }
    std::string problem() const override { return source_->problem(); }

private:
    std::size_t counted(std::size_t bytes) {
        progress_.add(bytes);
        return bytes;
    }

    std::unique_ptr<ByteSource> source_;
    ReadProgress& progress_;
};

} // namespace

void ReadProgress::add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ < worth_telling) {
        return;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
    line_.show(time.count(), [this] { return fmt::format("{} KiB read", bytes_ / 1024); });
}

std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source, ReadProgress& progress) {
    return std::make_unique<Watched>(std::move(source), progress);
}

} // namespace mmioscope::cli
