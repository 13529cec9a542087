#include "system/zstd_source.hpp"

#include "system/error.hpp"

#include <new>

namespace mmioscope {

namespace {
constexpr int level = 1;
}

bool is_zstd(std::span<const std::byte> beginning) {
    std::uint32_t magic = 0;
    if (beginning.size() < sizeof magic) {
        return false;
    }
    std::memcpy(&magic, beginning.data(), sizeof magic);
    return magic == ZSTD_MAGICNUMBER ||
           (magic & 0xffff'fff0) == 0x184d'2a50; // a skippable frame: pzstd begins with one
}

ZstdSource::ZstdSource(ByteSource& compressed)
    : compressed_(compressed), context_(ZSTD_createDCtx()), buffer_(ZSTD_DStreamInSize()) {
    if (!context_) {
        throw std::bad_alloc();
    }
}

std::size_t ZstdSource::read(void* to, std::size_t size) {
    ZSTD_outBuffer output{to, size, 0};
    while (output.pos < size && problem_.empty()) {
        const std::size_t before = output.pos;
        const std::size_t result = ZSTD_decompressStream(context_.get(), &output, &input_);
        if (ZSTD_isError(result) != 0) {
            problem_ = fmt::format("the compressed data is damaged: {}", ZSTD_getErrorName(result));
        } else if (output.pos == before && input_.pos == input_.size && !refill()) {
            break;
        }
    }
    return output.pos;
}

bool ZstdSource::refill() {
    input_ = {buffer_.data(), compressed_.read_some(buffer_.data(), buffer_.size()), 0};
    return input_.size > 0;
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
