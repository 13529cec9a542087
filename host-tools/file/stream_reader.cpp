#include "file/stream_reader.hpp"

#include "system/error.hpp"

#include <new>

namespace mmioscope::trace {

StreamReader::Stream StreamReader::next() {
    std::uint32_t head = 0;
    if (rest_.size() < sizeof head) {
        throw bad_input("a column ends within a stream");
    }
    std::memcpy(&head, rest_.data(), sizeof head);
    rest_ = rest_.subspan(sizeof head);
    const std::uint32_t size = head & ((1u << stream_kind_shift) - 1);
    if (size > rest_.size()) {
        throw bad_input("a column ends within a stream");
    }
    const Stream stream{static_cast<StreamKind>(head >> stream_kind_shift), rest_.first(size)};
    rest_ = rest_.subspan(size);
    return stream;
}

// Made at first use: unpacked traces need none.
ZSTD_DCtx* StreamReader::context() {
    if (!context_) {
        context_.reset(ZSTD_createDCtx());
    }
    if (!context_) {
        throw std::bad_alloc();
    }
    return context_.get();
}

const std::uint8_t* StreamReader::read(std::size_t size, std::vector<std::uint8_t>& buffer) {
    return unpack(next(), size, buffer);
}

const std::uint8_t* StreamReader::unpack(const Stream& stream, std::size_t size,
                                         std::vector<std::uint8_t>& buffer) {
    const std::span<const std::byte> packed = stream.packed;
    if (stream.kind == StreamKind::stored && packed.size() == size) {
        return reinterpret_cast<const std::uint8_t*>(packed.data());
    }
    if (buffer.size() < size) {
        buffer.resize(size);
    }
    if (stream.kind == StreamKind::repeated && packed.size() == 1) {
        std::memset(buffer.data(), static_cast<int>(packed.front()), size);
    } else if (stream.kind != StreamKind::zstd ||
               ZSTD_decompressDCtx(context(), buffer.data(), size, packed.data(), packed.size()) !=
                   size) {
        throw bad_input("a stream does not unpack to {} bytes", size);
    }
    return buffer.data();
}

} // namespace mmioscope::trace
