// Section `packed` of a trace file: up to 4,096 records and their callers in a tenth of the bytes.
//
// A Record has 16 words of 4 bytes. Words that belong together form a column, so readers decode
// only the columns that they need: a BlockHeader, then the columns, each one frame of zstd (RFC
// 8878). The content of a column is a row of arrays of numbers, of bytes the payloads:
//
//   the bytes of the array's greatest number, 0 to 8 (1 byte)
//   the lowest bytes of all numbers, zeros up to a multiple of 8 bytes, their second bytes, ...
//
// packer.cpp has the arrays of each column, and how a number follows from those before.
#pragma once

#include "abi/container.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmioscope::trace {

inline constexpr abi::SectionType packed_section{16};

/// Most records in a block.
inline constexpr std::size_t most_records = 4096;

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

struct BlockHeader {
    std::uint32_t count; ///< records, 1 to most_records
    std::uint32_t reserved;
    std::uint64_t earliest;                        ///< of the records' times
    std::uint64_t latest;                          ///< of the records' times
    std::array<std::uint32_t, column_count> sizes; ///< bytes of each column; 0: it is not there
};
static_assert(sizeof(BlockHeader) == 56);

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

} // namespace mmioscope::trace
