// Decompresses a zstd stream (RFC 8878) while it is read; and frames in memory.
#pragma once

#include "system/byte_source.hpp"

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope {

/// Whether data with this beginning is compressed with zstd.
bool is_zstd(std::span<const std::byte> beginning);

/// Returns complete blocks of a growing stream at once. Memory depends only on the stream's window,
/// at most 128 MiB. Ends where a stream is cut off or damaged; problem() reports damage.
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

/// Compresses `bytes` into one frame (RFC 8878) at level 1; nothing if that saves next to nothing.
std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes);

/// The size of the content of `frame`, from its header; 0: not a frame, or unknown.
std::uint64_t zstd_size(std::span<const std::byte> frame);

/// Decompresses `frame` to `bytes`, which has zstd_size() bytes. False: it is damaged.
bool expand_zstd(std::span<const std::byte> frame, std::span<std::byte> bytes);

} // namespace mmioscope
