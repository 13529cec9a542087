// Unpacks the requested columns of blocks (block.hpp).
#pragma once

#include "file/packer.hpp"
#include "file/stream_reader.hpp"
#include "records/extent.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

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
