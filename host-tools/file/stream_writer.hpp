// Writes the streams of a column (block.hpp).
#pragma once

#include "file/block.hpp"

#include <zstd.h>

#include <memory>
#include <span>
#include <vector>

namespace mmioscope::trace {

class StreamWriter {
public:
    StreamWriter();

    /// Appends the streams to `to`, which belongs to the caller.
    void begin(std::vector<std::byte>& to) { to_ = &to; }

    /// Writes one stream.
    void write(std::span<const std::byte> bytes);

    /// Writes the lowest bytes of all numbers as one stream, the second bytes as another, and the
    /// higher ones as a third. This separates bytes that change from record to record from those
    /// that do not.
    template <typename Number>
    void write_numbers(std::span<const Number> numbers) {
        write(plane(numbers, 0, 1));
        write(plane(numbers, 1, 2));
        write(plane(numbers, 2, sizeof(Number)));
    }

    /// Writes all bytes of the numbers as one stream, most of them 0.
    void write_rare(std::span<const std::uint32_t> numbers) {
        write(plane(numbers, 0, sizeof(std::uint32_t)));
    }

private:
    void put(StreamKind kind, std::span<const std::byte> packed);

    // Bytes `first` to `end` of each number: all of the first place, then all of the next.
    template <typename Number>
    std::span<const std::byte> plane(std::span<const Number> numbers, std::size_t first,
                                     std::size_t end) {
        plane_.resize(numbers.size() * (end - first));
        std::byte* to = plane_.data();
        for (std::size_t place = first; place < end; ++place) {
            for (const Number number : numbers) {
                *to++ = static_cast<std::byte>(number >> (8 * place));
            }
        }
        return plane_;
    }

    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    std::unique_ptr<ZSTD_CCtx, Free> context_;
    std::vector<std::byte>* to_ = nullptr;
    std::vector<std::byte> plane_;
    std::vector<std::byte> compressed_;
};

} // namespace mmioscope::trace
