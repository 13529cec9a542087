// The bytes behind a zstd stream (RFC 8878), decompressed as they are read; and frames in memory.
#pragma once

#include "system/byte_source.hpp"

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope {

/// Whether bytes that begin so are compressed with zstd.
bool is_zstd(std::span<const std::byte> beginning);

/// What can be decompressed of a stream that is still growing is there at once: whole blocks of it.
/// In memory that depends on the stream's window only, at most 128 MiB. A stream that is cut ends
/// where it is cut; one that is damaged ends there, too, and problem() says so.
class ZstdSource : public ByteSource {
public:
    /// `compressed` outlives this.
    explicit ZstdSource(ByteSource& compressed);
    std::size_t read(void* to, std::size_t size) override;
    bool grows() const override { return compressed_.grows(); }
    std::string problem() const override { return problem_; }

private:
    bool refill();

    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    ByteSource& compressed_;
    std::unique_ptr<ZSTD_DCtx, Free> context_;
    std::vector<std::byte> buffer_;
    ZSTD_inBuffer input_{};
    std::string problem_;
};

/// One frame (RFC 8878) of `bytes`, by level 1; nothing if that saves next to nothing.
std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes);

/// Of what is in `frame`, as it says itself; 0: it is none, or says nothing.
std::uint64_t zstd_size(std::span<const std::byte> frame);

/// What is in `frame`, to `bytes`, which has zstd_size() of it. False: it is damaged.
bool expand_zstd(std::span<const std::byte> frame, std::span<std::byte> bytes);

} // namespace mmioscope
