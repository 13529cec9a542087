#include "system/zstd_source.hpp"

#include <zstd.h>

namespace mmioscope {

namespace {
constexpr int level = 1;
}

std::optional<std::vector<std::byte>> zstd_frame(std::span<const std::byte> bytes) {
    std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size) != 0 || size + 64 + bytes.size() / 64 >= bytes.size()) {
        return std::nullopt;
    }
    frame.resize(size);
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
