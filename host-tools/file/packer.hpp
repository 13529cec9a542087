// Packs records into blocks (block.hpp), and unpacks the columns of blocks that are asked for.
#pragma once

#include "file/block.hpp"
#include "records/callers.hpp"
#include "records/groups.hpp"

#include <zstd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

/// An array of a column.
using Numbers = std::vector<std::uint64_t>;

/// Keeps its memory from block to block; each block is independent.
class Packer {
public:
    Packer();

    /// Packs 1 to most_records records, with a caller for each of them or none, into the payload of
    /// a section. Unpacking restores every bit. The result is valid until the next call.
    std::span<const std::byte> pack(std::span<const abi::Record> records,
                                    std::span<const Caller> callers = {});

private:
    void collect_payloads();
    void write(Column column);
    template <typename Words, typename Row>
    std::size_t write_dictionary(Numbers& numbers, std::span<const Row> rows);
    void write(Numbers& numbers);
    std::uint32_t compress();

    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    std::unique_ptr<ZSTD_CCtx, Free> context_;
    std::vector<std::byte> block_; ///< its first size_ bytes
    std::size_t size_ = 0;
    std::vector<std::byte> content_; ///< of the column
    std::vector<std::size_t> ends_;  ///< of what has statistics of its own, in content_
    std::span<const abi::Record> records_;
    std::span<const Caller> callers_;
    std::uint64_t earliest_ = 0;       ///< of the records' times
    std::vector<abi::Record> emptied_; ///< the records without the bytes of payloads_
    std::vector<std::byte> payloads_;
    Numbers site_of_; ///< of each record
    std::size_t sites_ = 0;
    std::array<Numbers, 3> numbers_;
};

/// The number and the times of a block's records, from the beginning of its payload, which may be
/// incomplete; nothing if that is invalid.
std::optional<BlockHeader> block_header(std::span<const std::byte> payload);

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
    TimeSpan times() const { return {header_.earliest, header_.latest}; }

private:
    void expand(std::span<const std::byte> frame, std::size_t column);
    void read(Column column);
    template <typename Words, typename Row>
    std::size_t read_dictionary(Numbers& numbers, std::span<Row> rows);
    void read(Numbers& numbers, std::size_t count);
    void read_payloads();
    std::span<const std::byte> next(std::size_t size);

    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> context_;
    BlockHeader header_{};
    std::span<const std::byte> columns_;
    ColumnSet decoded_;
    std::vector<abi::Record> records_;
    std::vector<Caller> callers_;
    std::vector<std::byte> content_;
    std::span<const std::byte> rest_; ///< of content_
    Numbers site_of_;                 ///< of each record
    std::size_t sites_ = 0;
    std::array<Numbers, 3> numbers_;
};

} // namespace mmioscope::trace
