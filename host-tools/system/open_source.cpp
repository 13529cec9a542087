#include "system/open_source.hpp"

#include "system/byte_source.hpp"
#include "system/compressed_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>

namespace mmioscope {

// Reads a trace that is still being written: a file that grows, or a pipe.

class GrowingSource : public ByteSource {
public:
    /// Calls `wait` after each 100 ms without new bytes; false ends the reading. The descriptor
    /// belongs to the caller.
    GrowingSource(int fd, std::function<bool()> wait);

    /// Returns fewer than `size` bytes only if `wait` returned false, or at the end of a pipe.
    std::size_t read(void* to, std::size_t size) override;
    std::size_t read_some(void* to, std::size_t size) override;
    bool grows() const override { return true; }

private:
    bool more();

    int fd_;
    bool pipe_;
    std::function<bool()> wait_;
};

namespace {

/// A source whose first bytes were inspected, and are returned again.
class LookedAt : public ByteSource {
public:
    explicit LookedAt(ByteSource& source) : source_(source) {
        size_ = source_.read(first_.data(), first_.size());
    }

    std::span<const std::byte> first() const { return std::span(first_).first(size_); }

    std::size_t read(void* to, std::size_t size) override {
        const std::size_t n = again(to, size);
        return n + (n < size ? source_.read(static_cast<std::byte*>(to) + n, size - n) : 0);
    }
    std::size_t read_some(void* to, std::size_t size) override {
        const std::size_t n = again(to, size);
        return n > 0 ? n : source_.read_some(to, size);
    }
    std::optional<std::uint64_t> size() const override { return source_.size(); }
    void seek(std::uint64_t offset) override {
        source_.seek(offset);
        given_ = size_;
    }
    bool grows() const override { return source_.grows(); }

private:
    std::size_t again(void* to, std::size_t size) {
        const std::size_t n = std::min(size, size_ - given_);
        std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(given_), n,
                    static_cast<std::byte*>(to));
        given_ += n;
        return n;
    }

    ByteSource& source_;
    std::array<std::byte, 4> first_{};
    std::size_t size_ = 0;
    std::size_t given_ = 0; ///< of the first bytes
};

/// A file and its reader.
class Input : public ByteSource {
public:
    Input(FileDescriptor file, std::unique_ptr<ByteSource> bytes)
        : file_(std::move(file)), bytes_(std::move(bytes)), looked_at_(*bytes_) {
        if (is_compressed(looked_at_.first())) {
            decompressed_ = std::make_unique<CompressedSource>(looked_at_, looked_at_.first());
            source_ = decompressed_.get();
        }
    }

    std::size_t read(void* to, std::size_t size) override { return source_->read(to, size); }
    std::optional<std::uint64_t> size() const override { return source_->size(); }
    void seek(std::uint64_t offset) override { source_->seek(offset); }
    bool grows() const override { return source_->grows(); }
    std::string problem() const override { return source_->problem(); }

private:
    FileDescriptor file_;
    std::unique_ptr<ByteSource> bytes_;
    LookedAt looked_at_;
    std::unique_ptr<ByteSource> decompressed_;
    ByteSource* source_ = &looked_at_;
};

} // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
    if (path == "-") {
        return open_source(STDIN_FILENO);
    }
    FileDescriptor file = open_input(path);
    const int fd = file.get();
    return std::make_unique<Input>(std::move(file), std::make_unique<FileSource>(fd));
}

bool reads_once(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return path == "-" ||
           (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
            !std::filesystem::is_directory(status));
}

std::unique_ptr<ByteSource> open_source(int fd) {
    return std::make_unique<Input>(FileDescriptor(), std::make_unique<FileSource>(fd));
}

std::unique_ptr<ByteSource> open_growing_source(const std::string& path,
                                                std::function<bool()> wait) {
    FileDescriptor file = path == "-" ? FileDescriptor() : open_input(path);
    const int fd = file ? file.get() : STDIN_FILENO;
    return std::make_unique<Input>(std::move(file),
                                   std::make_unique<GrowingSource>(fd, std::move(wait)));
}

namespace {

constexpr int patience_ms = 100;

bool is_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

} // namespace

GrowingSource::GrowingSource(int fd, std::function<bool()> wait)
    : fd_(fd), pipe_(!is_file(fd)), wait_(std::move(wait)) {}

// A file is always ready, so sleep; for a pipe poll() waits.
bool GrowingSource::more() {
    pollfd watched{fd_, POLLIN, 0};
    while (::poll(&watched, pipe_ ? 1 : 0, patience_ms) == 0) {
        if (!wait_()) {
            return false;
        }
        if (!pipe_) {
            return true;
        }
    }
    return true;
}

std::size_t GrowingSource::read_some(void* to, std::size_t size) {
    while (size > 0 && (!pipe_ || more())) {
        const ssize_t got = ::read(fd_, to, size);
        if (got > 0) {
            return static_cast<std::size_t>(got);
        }
        if (got < 0 && errno != EINTR) {
            throw bad_input("reading failed: {}", std::strerror(errno));
        }
        if (got == 0 && (pipe_ || !more())) {
            break;
        }
    }
    return 0;
}

std::size_t GrowingSource::read(void* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
        const std::size_t got = read_some(static_cast<char*>(to) + done, size - done);
        if (got == 0) {
            break;
        }
        done += got;
    }
    return done;
}

} // namespace mmioscope
