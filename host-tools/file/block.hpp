// Section `packed` of a trace file: up to 4,096 records and their callers in a tenth of the bytes.
//
// A Record has 16 words of 4 bytes. Words that belong together form a column with its own checksum,
// so readers decode only the columns that they need:
//
//   BlockHeader
//   ColumnPlace[columns]
//   CRC-32 of all that (4 bytes)
//   the columns, in order
//
// A column is a sequence of streams. The unpacked size of a stream follows from the header's count
// and the previous columns. A stream is a number, bits 29:0 the number of packed bytes that follow,
// bits 31:30 how they are packed: StreamKind.
//
// packer.cpp describes the streams of each column where it writes them.
#pragma once

#include "abi/container.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmioscope::trace {

inline constexpr abi::SectionType packed_section{16};

/// Most records in a block.
inline constexpr std::size_t most_records = 4096;

struct BlockHeader {
    std::uint32_t count;    ///< records, 1 to most_records
    std::uint16_t version;  ///< block_version, or with_payloads; readers accept no other
    std::uint16_t columns;  ///< 7, with payloads 8, or more in later versions of the file
    std::uint64_t earliest; ///< of the records' times
    std::uint64_t latest;   ///< of the records' times
};
static_assert(sizeof(BlockHeader) == 24);

inline constexpr std::uint16_t block_version = 2;
inline constexpr std::uint16_t with_payloads = 3; ///< some records are of type payload

struct ColumnPlace {
    std::uint32_t size; ///< bytes
    std::uint32_t crc;  ///< of these bytes
};
static_assert(sizeof(ColumnPlace) == 8);

enum class Column : unsigned {
    site = 0,     ///< type, cpu, access, mode, device, flags, pc, va and the physical address
    time = 1,     ///< time, duration
    value = 2,    ///< value
    frame = 3,    ///< sp, task
    lr = 4,       ///< lr
    sequence = 5, ///< commit, lock_sequence, cpu_sequence
    caller = 6,   ///< for each record, the caller that replaces its lr (records/callers.hpp)
    payload = 7,  ///< bytes of the records of type payload; all other columns have 0 there
};
inline constexpr std::size_t column_count = 8;

constexpr std::size_t columns_of(std::uint16_t version) {
    return version == with_payloads ? column_count : column_count - 1;
}

/// A set of columns.
class ColumnSet {
public:
    constexpr ColumnSet() = default;
    constexpr ColumnSet(Column column) : bits_(1u << static_cast<unsigned>(column)) {}

    static constexpr ColumnSet all() { return ColumnSet((1u << column_count) - 1); }

    constexpr bool has(Column column) const { return (bits_ & ColumnSet(column).bits_) != 0; }
    friend constexpr ColumnSet operator|(ColumnSet a, ColumnSet b) {
        return ColumnSet(a.bits_ | b.bits_);
    }
    friend constexpr bool operator==(ColumnSet a, ColumnSet b) = default;

private:
    explicit constexpr ColumnSet(unsigned bits) : bits_(bits) {}

    unsigned bits_ = 0;
};
constexpr ColumnSet operator|(Column a, Column b) {
    return ColumnSet(a) | ColumnSet(b);
}

enum class StreamKind : std::uint32_t {
    stored = 0,   ///< not packed
    zstd = 1,     ///< zstd frames
    repeated = 2, ///< one byte: all bytes equal it
};
inline constexpr unsigned stream_kind_shift = 30;

// The words of a Record that form a site.
inline constexpr std::array<std::size_t, 5> site_words{1, 7, 10, 13, 14};
static_assert(offsetof(abi::Record, type) == 4 * site_words[0] &&
              offsetof(abi::Record, device) == 4 * site_words[1] &&
              offsetof(abi::Record, pc) == 4 * site_words[2] &&
              offsetof(abi::Record, va) == 4 * site_words[3] &&
              offsetof(abi::Record, pa_low) == 4 * site_words[4]);
inline constexpr std::size_t frame_words = 2; ///< of a frame

/// The value of a record: the same as the last one of its site, or a number of this many bytes.
enum class ValueForm : std::uint8_t { as_last = 0, in_1 = 1, in_2 = 2, in_4 = 3, in_8 = 4 };
inline constexpr std::size_t value_ways = 5;
inline constexpr std::array<std::size_t, value_ways> value_bytes{0, 1, 2, 4, 8};

// How a record's LR is encoded. Loops that read a FIFO load values into LR, so LR may be the value
// of an earlier record: lr_value + n is the value of the record n + 1 places before this one.
inline constexpr std::uint8_t lr_of_site = 0; ///< the last one of its site
inline constexpr std::uint8_t lr_of_cpu = 1;  ///< the last one of its CPU
inline constexpr std::uint8_t lr_value = 2;
inline constexpr std::uint8_t lr_values = 8;
inline constexpr std::uint8_t lr_literal = lr_value + lr_values;

/// Makes a signed number unsigned, small if it is near 0.
constexpr std::uint64_t fold_sign(std::uint64_t number) {
    return (number << 1) ^ (0 - (number >> 63));
}
constexpr std::uint64_t unfold_sign(std::uint64_t folded) {
    return (folded >> 1) ^ (0 - (folded & 1));
}
constexpr std::uint32_t fold_sign(std::uint32_t number) {
    return (number << 1) ^ (0 - (number >> 31));
}
constexpr std::uint32_t unfold_sign(std::uint32_t folded) {
    return (folded >> 1) ^ (0 - (folded & 1));
}

} // namespace mmioscope::trace
