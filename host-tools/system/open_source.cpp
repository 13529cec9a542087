#include "system/open_source.hpp"

#include "system/error.hpp"

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <new>
#include <string_view>

namespace mmioscope {

// Reads a trace that is still being written: a file that grows, or a pipe.

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

constexpr int patience_ms = 100;

bool is_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

class GrowingSource : public ByteSource {
public:
    /// Calls `wait` after each 100 ms without new bytes; false ends the reading. The descriptor
    /// belongs to the caller.
    GrowingSource(int fd, std::function<bool()> wait)
        : fd_(fd), pipe_(!is_file(fd)), wait_(std::move(wait)) {}

    /// Returns fewer than `size` bytes only if `wait` returned false, or at the end of a pipe.
    std::size_t read(void* to, std::size_t size) override {
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
    std::size_t read_some(void* to, std::size_t size) override {
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

    bool grows() const override { return true; }

private:
    // A file is always ready, so sleep; for a pipe poll() waits.
    bool more() {
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

    int fd_;
    bool pipe_;
    std::function<bool()> wait_;
};

bool is_device(const std::string& path) {
    struct stat status {};
    return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

FileDescriptor spooled(ByteSource& source, const std::string& name, std::uint64_t most,
                       const Passed& passed) {
    FileDescriptor copy = temporary_file();
    std::vector<std::byte> block(1 << 20);
    std::uint64_t size = 0;
    for (std::size_t got = 0; (got = source.read(block.data(), block.size())) > 0;) {
        size += got;
        if (size > most) {
            throw bad_input("{}: larger than {} GiB", name, most >> 30);
        }
        append(copy.get(), std::span(block.data(), got), "a temporary file");
        passed(got);
    }
    if (!source.problem().empty()) {
        throw bad_input("{}: {}", name, source.problem());
    }
    ::lseek(copy.get(), 0, SEEK_SET);
    return copy;
}

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

FileDescriptor open_or_spool(const std::string& path, std::uint64_t most, const Passed& passed) {
    if (is_device(path)) {
        throw bad_input("{}: is a device, which may have no end: copy what you need to a file",
                        path);
    }
    const std::unique_ptr<ByteSource> source = open_source(path);
    if (path != "-" && source->size()) {
        return open_input(path);
    }
    return spooled(*source, path, most, passed);
}

/// The library of one format.
class Codec {
public:
    virtual ~Codec() = default;

    /// Takes bytes from the front of `in`, and fills the front of `out`. Returns what is wrong with
    /// the data, or nothing.
    virtual std::string step(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;

    /// Whether the data may end here: behind a stream.
    bool between_streams() const { return between_; }

protected:
    bool between_ = true;
};

namespace {

using namespace std::string_view_literals;

/// gzip, xz and bzip2: their libraries have the same kind of interface, which zlib began.
template <typename Stream>
class ZlibLike : public Codec {
public:
    struct Library {
        int (*begin)(Stream&);
        int (*step)(Stream&);
        void (*end)(Stream&);
        int good;
        int at_end;
        int starved; ///< nothing to do, for lack of input or output
    };

    explicit ZlibLike(Library library) : library_(std::move(library)) { begin(); }
    ~ZlibLike() override { library_.end(stream_); }

    std::string step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
        using In = decltype(stream_.next_in);
        using Out = decltype(stream_.next_out);
        const auto size = [](auto bytes) { // zlib and bzip2 have 32 bits for it
            return static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 1u << 30));
        };
        stream_.next_in = reinterpret_cast<In>(const_cast<std::byte*>(in.data()));
        stream_.avail_in = size(in);
        stream_.next_out = reinterpret_cast<Out>(out.data());
        stream_.avail_out = size(out);
        const int result = library_.step(stream_);
        const std::size_t taken = size(in) - stream_.avail_in;
        in = in.subspan(taken);
        out = out.subspan(size(out) - stream_.avail_out);
        between_ = result == library_.at_end || (between_ && taken == 0);
        if (result == library_.at_end) {
            library_.end(stream_);
            begin();
        } else if (result != library_.good && result != library_.starved) {
            return fmt::format("error {}", result);
        }
        return {};
    }

private:
    void begin() {
        stream_ = Stream();
        if (library_.begin(stream_) != library_.good) {
            throw std::bad_alloc();
        }
    }

    Library library_;
    Stream stream_;
};

std::unique_ptr<Codec> gzip() {
    constexpr int with_header = 16;
    return std::make_unique<ZlibLike<z_stream>>(ZlibLike<z_stream>::Library{
        [](z_stream& stream) { return inflateInit2(&stream, MAX_WBITS + with_header); },
        [](z_stream& stream) { return inflate(&stream, Z_NO_FLUSH); },
        [](z_stream& stream) { inflateEnd(&stream); }, Z_OK, Z_STREAM_END, Z_BUF_ERROR});
}

std::unique_ptr<Codec> xz() {
    constexpr std::uint64_t memory = 256u << 20;
    return std::make_unique<ZlibLike<lzma_stream>>(ZlibLike<lzma_stream>::Library{
        [](lzma_stream& stream) -> int { return lzma_stream_decoder(&stream, memory, 0); },
        [](lzma_stream& stream) -> int { return lzma_code(&stream, LZMA_RUN); },
        [](lzma_stream& stream) { lzma_end(&stream); }, LZMA_OK, LZMA_STREAM_END, LZMA_BUF_ERROR});
}

std::unique_ptr<Codec> bzip2() {
    return std::make_unique<ZlibLike<bz_stream>>(ZlibLike<bz_stream>::Library{
        [](bz_stream& stream) { return BZ2_bzDecompressInit(&stream, 0, 0); },
        [](bz_stream& stream) { return BZ2_bzDecompress(&stream); },
        [](bz_stream& stream) { BZ2_bzDecompressEnd(&stream); }, BZ_OK, BZ_STREAM_END, BZ_OK});
}

class Zstd : public Codec {
public:
    Zstd() : context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
        if (!context_) {
            throw std::bad_alloc();
        }
    }

    std::string step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        const std::size_t result = ZSTD_decompressStream(context_.get(), &output, &input);
        in = in.subspan(input.pos);
        out = out.subspan(output.pos);
        if (ZSTD_isError(result) != 0) {
            return ZSTD_getErrorName(result);
        }
        between_ = result == 0 || (between_ && input.pos == 0);
        return {};
    }

private:
    std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
};

std::unique_ptr<Codec> zstd() {
    return std::make_unique<Zstd>();
}

using Maker = std::unique_ptr<Codec> (*)();

/// Null: it is not compressed.
Maker codec_for(std::span<const std::byte> beginning) {
    const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
    if (text.starts_with("\x1f\x8b\x08"sv)) return gzip;
    if (text.starts_with("\xfd"
                         "7zX"sv)) {
        return xz;
    }
    if (text.starts_with("BZh"sv) && text.size() > 3 && text[3] >= '1' && text[3] <= '9') {
        return bzip2;
    }
    // Also a skippable frame: pzstd begins with one.
    const bool skippable =
        text.size() > 3 && (text[0] & 0xf0) == 0x50 && text.substr(1, 3) == "\x2a\x4d\x18"sv;
    return skippable || text.starts_with("\x28\xb5\x2f\xfd"sv) ? zstd : nullptr;
}

} // namespace

bool is_compressed(std::span<const std::byte> beginning) {
    return codec_for(beginning) != nullptr;
}

CompressedSource::CompressedSource(ByteSource& compressed, std::span<const std::byte> beginning)
    : compressed_(compressed), codec_(codec_for(beginning)()), buffer_(128u << 10) {}

CompressedSource::~CompressedSource() = default;

std::size_t CompressedSource::read(void* to, std::size_t size) {
    constexpr std::uint64_t large = 1u << 30;
    constexpr std::uint64_t most_times = 500; // logs of a polling loop reach 100
    std::span<std::byte> out(static_cast<std::byte*>(to), size);
    while (!out.empty() && problem_.empty()) {
        const std::size_t room = out.size();
        const std::size_t rest = input_.size();
        const std::string wrong = codec_->step(input_, out);
        taken_ += rest - input_.size();
        given_ += room - out.size();
        if (!wrong.empty()) {
            problem_ = fmt::format("the compressed data is damaged: {}", wrong);
        } else if (given_ > large && given_ / most_times > taken_) {
            problem_ = "the compressed data expands to more than a GiB, 500 times its size: if "
                       "that is right, decompress it yourself";
        } else if (out.size() == room && input_.size() == rest && !refill()) {
            problem_ = codec_->between_streams() || grows() ? "" : "the compressed data is cut off";
            break;
        }
    }
    return size - out.size();
}

bool CompressedSource::refill() {
    input_ = std::span<const std::byte>(buffer_).first(
        compressed_.read_some(buffer_.data(), buffer_.size()));
    return !input_.empty();
}

std::vector<std::byte> zstd_compress(std::span<const std::byte> bytes, int level) {
    std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0) {
        throw failure("cannot compress: {}", ZSTD_getErrorName(size));
    }
    frame.resize(size);
    return frame;
}

std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes) {
    std::vector<std::byte> frame = zstd_compress(bytes, 1);
    if (frame.size() + 64 + bytes.size() / 64 >= bytes.size()) {
        return std::nullopt;
    }
    return frame;
}

std::uint64_t zstd_size(std::span<const std::byte> frame) {
    const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 0 : size;
}

bool expand_zstd(std::span<const std::byte> frame, std::span<std::byte> bytes) {
    return ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size()) == bytes.size();
}

} // namespace mmioscope
