// Opens the input of a command: a file or standard input, compressed or not.
#pragma once

#include "system/byte_source.hpp"
#include "system/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope {

/// Whether `path` can be read only once: standard input, a pipe or a device. False if there is no
/// such file.
bool reads_once(const std::string& path);

/// Opens `path`; "-" is standard input. Decompresses while reading. Throws Error (bad_input) with
/// `path` and the reason.
std::unique_ptr<ByteSource> open_source(const std::string& path);

/// Likewise for a descriptor, which belongs to the caller.
std::unique_ptr<ByteSource> open_source(int fd);

/// Likewise for a file that is still being written; `wait`: waits a moment, and returns whether
/// more may come.
std::unique_ptr<ByteSource> open_growing_source(const std::string& path,
                                                std::function<bool()> wait);

// Copies input that can be read only once to a file that can be mapped and read again.

/// Opens `path` if it is an uncompressed file. Otherwise (standard input for "-", a pipe,
/// compressed data) copies it, at most `most` bytes, to a nameless file, which is positioned at its
/// start. Calls `passed` as it copies. Throws Error that names `path`, also for a device such as
/// /dev/zero, which may have no end.
FileDescriptor open_or_spool(const std::string& path, std::uint64_t most, const Passed& passed);

// Decompresses gzip (RFC 1952), xz, bzip2 or zstd (RFC 8878) while it is read.

class Codec;

/// Whether data with this beginning is compressed in one of these formats; 4 bytes are enough.
bool is_compressed(std::span<const std::byte> beginning);

/// Reads one compressed stream, or several one after the other. Memory depends only on the stream's
/// window, at most 256 MiB. Ends where the data is cut off or damaged, or where it has become
/// larger than a GiB and 500 times its compressed size; problem() says so.
class CompressedSource : public ByteSource {
public:
    /// `compressed` outlives this; is_compressed(beginning) holds.
    CompressedSource(ByteSource& compressed, std::span<const std::byte> beginning);
    ~CompressedSource() override;
    std::size_t read(void* to, std::size_t size) override;
    bool grows() const override { return compressed_.grows(); }
    std::string problem() const override { return problem_; }

private:
    bool refill();

    ByteSource& compressed_;
    std::unique_ptr<Codec> codec_;
    std::vector<std::byte> buffer_;
    std::span<const std::byte> input_; ///< the rest of buffer_
    std::uint64_t taken_ = 0;          ///< bytes of the compressed data
    std::uint64_t given_ = 0;          ///< bytes of the content
    std::string problem_;
};

// zstd's frames (RFC 8878) in memory.

/// One frame with these bytes. `level`: 1 to 19, fast to small.
std::vector<std::byte> zstd_compress(std::span<const std::byte> bytes, int level);

/// Compresses `bytes` at level 1; nothing if that saves next to nothing.
std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes);

/// The size of the content of `frame`, from its header; 0: not a frame, or unknown.
std::uint64_t zstd_size(std::span<const std::byte> frame);

/// Decompresses `frame` to `bytes`, which has zstd_size() bytes. False: it is damaged.
bool expand_zstd(std::span<const std::byte> frame, std::span<std::byte> bytes);

} // namespace mmioscope
