// Unpacks the requested columns of blocks (block.hpp).
#pragma once

#include "file/block.hpp"
#include "file/packer.hpp"
#include "records/open_accesses.hpp"

#include <zstd.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

// Reads the streams of a column (block.hpp). The bytes are untrusted.

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

/// The head of a block, before its columns.
struct BlockFront {
    std::uint32_t count;
    trace::TimeSpan times;
};

/// Reads only the header at the beginning of `payload`, which may be incomplete; nothing if the
/// header is invalid.
std::optional<BlockFront> block_front(std::span<const std::byte> payload);

/// Unpacks one block at a time, and keeps its memory from block to block. open() and decode() throw
/// Error (bad_input) if the bytes are invalid; then do not call records().
class Unpacker {
public:
    /// Begins the next block, which must stay valid until the next open() or the last decode().
    void open(std::span<const std::byte> payload);

    /// The records, with the words of these columns and of those decoded before; other words are 0
    /// or correct. Valid until the next open().
    std::span<const abi::Record> decode(ColumnSet wanted);

    std::span<const abi::Record> records() const { return records_; }
    /// One for each record, or none; empty until decoded.
    std::span<const Caller> callers() const { return callers_; }
    const trace::TimeSpan& times() const { return times_; }

private:
    bool begin(Column column);
    void read_sites();
    void read_times();
    void read_values();
    void read_frames();
    void read_lrs();
    void read_sequences();
    void read_callers();
    void read_payloads();

    template <std::size_t words>
    void read_dictionary(std::vector<std::array<std::uint32_t, words>>& entries,
                         std::vector<std::uint16_t>& numbers);

    std::vector<abi::Record> records_;
    std::vector<Caller> callers_;
    trace::TimeSpan times_;
    std::array<std::span<const std::byte>, column_count> columns_;
    std::array<std::uint32_t, column_count> crcs_{};
    ColumnSet decoded_;
    StreamReader reader_;

    std::vector<std::array<std::uint32_t, site_words.size()>> sites_;
    std::vector<std::uint16_t> site_of_; ///< of each record
    std::vector<std::array<std::uint32_t, frame_words>> pairs_;
    std::vector<std::array<std::uint32_t, 1>> words_;
    std::vector<std::uint16_t> numbers_;

    // As in Packer.
    std::vector<std::uint64_t> last_value_;
    std::vector<std::uint32_t> site_lr_;
    std::vector<std::uint32_t> step_;
    std::vector<std::uint32_t> last_lock_; ///< by device number; empty before a block

    std::vector<std::uint8_t> bytes_;
    std::vector<std::uint8_t> high_;
    std::array<std::vector<std::uint8_t>, value_ways> literals_;
    std::vector<std::uint64_t> gaps_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> second_;
    std::vector<std::uint32_t> third_;
};

} // namespace mmioscope::trace
