#include "symbols/expand.hpp"

#include "system/error.hpp"

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

namespace mmioscope::symbols {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t step = 1u << 20;

/// Room for the next part of the output, and how much of it is used.
class Output {
public:
    explicit Output(std::size_t limit) : limit_(limit) {}

    std::span<std::byte> room() {
        bytes_.resize(std::min(limit_, used_ + step));
        return std::span(bytes_).subspan(used_);
    }
    void used(std::size_t size) { used_ += size; }
    bool full() const { return used_ == limit_; }
    Bytes take() {
        bytes_.resize(used_);
        return std::move(bytes_);
    }

private:
    Bytes bytes_;
    std::size_t limit_;
    std::size_t used_ = 0;
};

template <typename T>
T* as(std::byte* bytes) {
    return reinterpret_cast<T*>(bytes);
}

template <typename T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

// liblzma applies the filter for ARM code by itself, because the stream names it.
Bytes expand_lzma(std::span<const std::byte> bytes, std::size_t limit, bool alone) {
    constexpr std::uint64_t memory = 256u << 20;
    lzma_stream stream = LZMA_STREAM_INIT;
    if ((alone ? lzma_alone_decoder(&stream, memory) : lzma_stream_decoder(&stream, memory, 0)) !=
        LZMA_OK) {
        return {};
    }
    const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end(&stream, lzma_end);
    stream.next_in = as<std::uint8_t>(bytes.data());
    stream.avail_in = bytes.size();
    Output output(limit);
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && !output.full()) {
        const std::span<std::byte> room = output.room();
        stream.next_out = as<std::uint8_t>(room.data());
        stream.avail_out = room.size();
        result = lzma_code(&stream, LZMA_RUN);
        output.used(room.size() - stream.avail_out);
    }
    return output.take();
}

Bytes expand_gzip(std::span<const std::byte> bytes, std::size_t limit) {
    constexpr int gzip_header = 16;
    z_stream stream{};
    if (inflateInit2(&stream, MAX_WBITS + gzip_header) != Z_OK) {
        return {};
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    stream.next_in = const_cast<Bytef*>(as<Bytef>(bytes.data()));
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), UINT32_MAX));
    Output output(limit);
    int result = Z_OK;
    while (result == Z_OK && !output.full()) {
        const std::span<std::byte> room = output.room();
        stream.next_out = as<Bytef>(room.data());
        stream.avail_out = static_cast<uInt>(room.size());
        result = inflate(&stream, Z_NO_FLUSH);
        output.used(room.size() - stream.avail_out);
    }
    return output.take();
}

Bytes expand_zstd(std::span<const std::byte> bytes, std::size_t limit) {
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                          ZSTD_freeDCtx);
    // In one step if the stream tells its size: no window beside the output.
    const unsigned long long whole = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    const std::size_t packed = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (whole <= limit && ZSTD_isError(packed) == 0) {
        Bytes expanded(whole);
        if (ZSTD_decompressDCtx(context.get(), expanded.data(), whole, bytes.data(), packed) ==
            whole) {
            return expanded;
        }
    }
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    Output output(limit);
    for (std::size_t rest = 1; rest != 0 && !output.full();) {
        const std::span<std::byte> room = output.room();
        ZSTD_outBuffer out{room.data(), room.size(), 0};
        rest = ZSTD_decompressStream(context.get(), &out, &in);
        if (ZSTD_isError(rest) != 0) {
            break;
        }
        output.used(out.pos);
        if (out.pos == 0 && in.pos == in.size) {
            break; // the stream is cut off
        }
    }
    return output.take();
}

// The kernel's build writes LZ4's legacy frames: a magic, then blocks, each preceded by its size
// (lz4_Frame_format.md, "Legacy frame"). There is no end mark: they end at an impossible size.
Bytes expand_lz4(std::span<const std::byte> bytes, std::size_t limit) {
    constexpr std::size_t block = 8u << 20;
    const auto bound = static_cast<std::uint32_t>(LZ4_compressBound(block));
    const auto room = std::make_unique_for_overwrite<std::byte[]>(block); // a block may be one byte
    Bytes expanded;
    std::uint32_t size = 0;
    for (std::size_t at = 4; at + sizeof size <= bytes.size(); at += size) {
        std::memcpy(&size, bytes.data() + at, sizeof size);
        at += sizeof size;
        if (size == 0 || size > bound || size > bytes.size() - at) {
            break;
        }
        const std::size_t left = std::min(block, limit - expanded.size());
        const int got = LZ4_decompress_safe(as<char>(bytes.data() + at), as<char>(room.get()),
                                            static_cast<int>(size), static_cast<int>(left));
        if (got < 0 || left == 0) {
            break;
        }
        expanded.insert(expanded.end(), room.get(), room.get() + got);
    }
    return expanded;
}

} // namespace

Bytes expand(Packing packing, std::span<const std::byte> bytes, std::size_t limit) {
    switch (packing) {
    case Packing::xz: return expand_lzma(bytes, limit, false);
    case Packing::lzma: return expand_lzma(bytes, limit, true);
    case Packing::gzip: return expand_gzip(bytes, limit);
    case Packing::lz4: return expand_lz4(bytes, limit);
    case Packing::zstd: return expand_zstd(bytes, limit);
    }
    return {};
}

Bytes compress(std::span<const std::byte> bytes) {
    constexpr int level = 19;
    Bytes packed(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0) {
        throw failure("cannot compress: {}", ZSTD_getErrorName(size));
    }
    packed.resize(size);
    return packed;
}

} // namespace mmioscope::symbols
