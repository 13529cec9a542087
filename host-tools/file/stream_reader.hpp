// Reads the streams of a column (block.hpp). The bytes are untrusted.
#pragma once

#include "file/block.hpp"

#include <zstd.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace mmioscope::trace {

/// All reading functions throw Error (bad_input) if the bytes are invalid.
class StreamReader {
public:
    /// Begins with the first stream of `column`, which must stay valid while it is read.
    void begin(std::span<const std::byte> column) { rest_ = column; }

    /// The next stream, which unpacks to `size` bytes. Valid until `buffer` or the column changes.
    const std::uint8_t* read(std::size_t size, std::vector<std::uint8_t>& buffer);

    /// Reads the numbers of StreamWriter::write_numbers(), as many as `to` has.
    template <typename Number>
    void read_numbers(std::span<Number> to) {
        const std::uint8_t* low = read(to.size(), low_);
        const std::uint8_t* high = read(to.size(), high_);
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] = static_cast<Number>(low[i] | high[i] << 8);
        }
        add_rare(to, 2);
    }

    /// Reads the numbers of StreamWriter::write_rare().
    void read_rare(std::span<std::uint32_t> to) {
        std::memset(to.data(), 0, to.size_bytes());
        add_rare(to, 0);
    }

private:
    struct Stream {
        StreamKind kind;
        std::span<const std::byte> packed;
    };
    ZSTD_DCtx* context();
    Stream next();
    const std::uint8_t* unpack(const Stream& stream, std::size_t size,
                               std::vector<std::uint8_t>& buffer);

    // Adds the bytes from place `first` on; most are 0.
    template <typename Number>
    void add_rare(std::span<Number> to, std::size_t first) {
        const Stream stream = next();
        const std::size_t places = sizeof(Number) - first;
        if (stream.kind == StreamKind::repeated && stream.packed.size() == 1 &&
            stream.packed.front() == std::byte{0}) {
            return;
        }
        const std::uint8_t* bytes = unpack(stream, to.size() * places, low_);
        for (std::size_t place = first; place < sizeof(Number); ++place, bytes += to.size()) {
            std::size_t i = 0;
            for (std::uint64_t eight = 0; i + sizeof eight <= to.size(); i += sizeof eight) {
                std::memcpy(&eight, bytes + i, sizeof eight);
                if (eight != 0) {
                    add_bytes(to.subspan(i, sizeof eight), bytes + i, place);
                }
            }
            add_bytes(to.subspan(i), bytes + i, place);
        }
    }
    template <typename Number>
    static void add_bytes(std::span<Number> to, const std::uint8_t* bytes, std::size_t place) {
        for (Number& number : to) {
            number |= static_cast<Number>(Number{*bytes++} << (8 * place));
        }
    }

    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_;
    std::span<const std::byte> rest_;
    std::vector<std::uint8_t> low_;
    std::vector<std::uint8_t> high_;
};

} // namespace mmioscope::trace
