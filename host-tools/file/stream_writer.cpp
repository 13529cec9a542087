#include "file/stream_writer.hpp"

#include <cstring>
#include <new>

namespace mmioscope::trace {

namespace {

constexpr int level = 1; // of zstd

bool all_the_same(std::span<const std::byte> bytes) {
    return std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

} // namespace

StreamWriter::StreamWriter() : context_(ZSTD_createCCtx()) {
    if (!context_) {
        throw std::bad_alloc();
    }
}

void StreamWriter::put(StreamKind kind, std::span<const std::byte> packed) {
    const std::uint32_t head = static_cast<std::uint32_t>(kind) << stream_kind_shift |
                               static_cast<std::uint32_t>(packed.size());
    const auto head_bytes = std::as_bytes(std::span(&head, 1));
    to_->insert(to_->end(), head_bytes.begin(), head_bytes.end());
    to_->insert(to_->end(), packed.begin(), packed.end());
}

void StreamWriter::write(std::span<const std::byte> bytes) {
    if (bytes.size() > 1 && all_the_same(bytes)) {
        put(StreamKind::repeated, bytes.first(1));
        return;
    }
    compressed_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t packed = ZSTD_compressCCtx(
        context_.get(), compressed_.data(), compressed_.size(), bytes.data(), bytes.size(), level);
    // Saving next to nothing is not worth the time for unpacking.
    if (ZSTD_isError(packed) != 0 || packed + bytes.size() / 64 >= bytes.size()) {
        put(StreamKind::stored, bytes);
    } else {
        put(StreamKind::zstd, std::span<const std::byte>(compressed_).first(packed));
    }
}

} // namespace mmioscope::trace
