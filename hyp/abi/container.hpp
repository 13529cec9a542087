// The trace file.
//
// Constraints: written front to back by a process that may die at any moment; read front to
// back in constant memory, from a pipe too; a damaged or unknown part costs that part only.
//
//   FileHeader
//   SectionHeader payload padding-to-8      any number of times, any order after `info`
//   ...
//   SectionHeader payload                   the last one is `end`
//
// A file without `end` was cut: everything before the cut holds. A section's `crc` covers its
// payload, `header_crc` the header's bytes before it, so a reader can tell a damaged size from
// a damaged payload. Sections of unknown type are skipped by size. Records are in the order
// of time, those of one region in the order of lock_sequence. CRC-32 is that of zlib (IEEE 802.3).
//
// Times: a CPU's records are in the order in which it published them. A record that has a later
// time than one behind it is rare (a gap record, or one that was published late), so nothing here
// relies on sorted times: an index tells the earliest and the latest of a part.
//
// Compatibility: readers refuse a newer `version_major` in one line; `version_minor` may add types
// and fields at the end of a payload. 1.2 added the index, 1.3 packed records, 1.4 packed sections.
#pragma once

#include "abi/ring.hpp"

namespace mmioscope::abi {

inline constexpr char file_magic[8] = {'M', 'M', 'I', 'O', 'S', 'C', 'O', 'P'};
inline constexpr std::uint32_t file_endianness = 0x0102'0304;
inline constexpr std::uint16_t file_version_major = 1;      ///< readers refuse a newer one
inline constexpr std::uint16_t file_version_minor = 4;      ///< may only add
inline constexpr std::uint32_t section_magic = 0x5443'4553; // "SECT"

struct FileHeader {
    char magic[8];
    std::uint32_t endianness; ///< file_endianness as the writer stores it
    std::uint16_t version_major;
    std::uint16_t version_minor;
    std::uint32_t header_size; ///< bytes; the first section follows
    std::uint32_t reserved;
    std::uint32_t header_crc; ///< over the bytes before it
    std::uint32_t reserved1;
};
static_assert(sizeof(FileHeader) == 32);

enum class SectionType : std::uint32_t {
    info = 1,        ///< Info
    device_tree = 2, ///< flattened device tree, as the guest was given it
    regions = 3,     ///< RegionEntry[]
    records = 4,     ///< Record[], `commit` as it stood in the ring
    losses = 5,      ///< Loss[]
    statistics = 6,  ///< Statistics[], one per CPU
    text = 7,        ///< UTF-8 "key=value" lines: guest kernel, command line, tool version
    end = 8,         ///< End
    previous_boot =
        9,      ///< the area (abi/ring.hpp) in which this boot kept the end of the one before
    index = 10, ///< IndexHeader, IndexEntry[]; right before `end`
    // 11 to 16 are taken by host-tools: symbols, modules, tasks, console, callers, packed records.
};

/// With this bit in its type, a section's payload is one zstd frame (RFC 8878) of what it is
/// without.
inline constexpr std::uint32_t section_zstd = 1u << 31;

struct SectionHeader {
    std::uint32_t magic; ///< section_magic
    SectionType type;
    std::uint64_t size;       ///< payload bytes as they stand there, padding not counted
    std::uint32_t crc;        ///< of them
    std::uint32_t header_crc; ///< over the bytes before it
};
static_assert(sizeof(SectionHeader) == 24);

/// At most this many payload bytes in one `records` section; a reader may refuse more.
inline constexpr std::uint64_t max_records_payload = 1 << 20;

struct Info {
    std::uint32_t counter_frequency; ///< Hz
    std::uint32_t cpu_count;
    EngineKind engine;
    Policy policy;
    std::uint32_t record_size;
    std::uint32_t region_size;
    std::uint8_t boot_id[16];
    char board[32];
};
static_assert(sizeof(Info) == 72);

/// A run of records of one CPU that is missing.
struct Loss {
    std::uint32_t cpu;
    std::uint32_t first_sequence; ///< cpu_sequence of the first one
    std::uint64_t count;
    std::uint64_t time; ///< of the gap record that told of it
};
static_assert(sizeof(Loss) == 24);

/// How the recording ended.
enum class Ending : std::uint32_t {
    machine_off = 0,   ///< the machine switched itself off or QEMU ended
    interrupted = 1,   ///< Ctrl-C or a signal
    time_limit = 2,    ///< the recorder's own limit
    panicked = 3,      ///< the hypervisor stopped with a report
    failed = 4,        ///< the emulator could not be started or died
    machine_reset = 5, ///< the machine was reset: its next boot has a file of its own
    stream_ended = 6,  ///< the stream broke off before the machine said that it ended
    continued = 7,     ///< goes on in the next file
};

struct End {
    std::uint64_t records; ///< in all `records` sections, and packed
    std::uint64_t lost;
    Ending ending;
    std::uint32_t reserved;
    // From version 1.2 on.
    std::uint64_t index_offset; ///< of the index's section header, from the file's start; 0: none
};
static_assert(sizeof(End) == 32);
inline constexpr std::size_t first_end_size = 24; ///< before version 1.2

/// The index divides what is in front of it into stretches, each of one or more whole sections: so
/// a reader finds the records of a range of time, and all sections that are no records, without
/// reading the rest. It begins with the file's first section. A file that was cut has none.
struct IndexHeader {
    std::uint32_t entry_size; ///< sizeof(IndexEntry) of the writer
    std::uint32_t reserved;
    std::uint64_t end; ///< where the last stretch ends: the index's own section header
};
static_assert(sizeof(IndexHeader) == 16);

/// One stretch.
struct IndexEntry {
    std::uint64_t offset;         ///< of its first section's header, from the file's start
    std::uint64_t records_before; ///< in all sections in front of it
    std::uint64_t earliest;       ///< of its records' times; 2^64-1 if it has none
    std::uint64_t latest;         ///< likewise; 0 if it has none
    std::uint32_t types;          ///< bit n: it has a section of type n; bit 31: of type 30 or more
    std::uint32_t reserved;
};
static_assert(sizeof(IndexEntry) == 40);

/// The bit of IndexEntry::types.
constexpr std::uint32_t index_type_bit(SectionType type) {
    const auto number = static_cast<std::uint32_t>(type);
    return 1u << (number < 30 ? number : 31);
}

/// Of IndexEntry::types, too: it may have records of type `task` or `marker`, which tell something
/// of those behind them.
inline constexpr std::uint32_t index_teaches = 1u << 30;

} // namespace mmioscope::abi
