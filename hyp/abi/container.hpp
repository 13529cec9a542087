// The trace file.
//
// A process that may die at any moment writes it from front to back. Readers read it from front to
// back in constant memory, also from a pipe. A damaged or unknown part costs that part only.
//
//   FileHeader
//   SectionHeader payload padding-to-8      any number of times, any order after `info`
//   ...
//   SectionHeader payload                   the last one is `end`
//
// A file without `end` was cut; everything before the cut is valid. A section's `crc` covers its
// payload, `header_crc` the header's bytes before it, so a reader can tell a damaged size from a
// damaged payload. Readers skip sections of unknown type by their size. Records are in the order of
// time, those of one region in the order of lock_sequence. CRC-32 is that of zlib (IEEE 802.3).
//
// Times: the records of one CPU are in the order in which it published them. Seldom a record has a
// later time than one that follows it (a gap record, or one that was published late). So nothing
// here relies on sorted times, and the index has the earliest and the latest time of each part.
//
// Compatibility: readers refuse another `version_major` with one line. A new `version_minor` may
// add types, and fields at the end of a payload. 2.0 packs records differently from 1.4.
#pragma once

#include "abi/ring.hpp"

namespace mmioscope::abi {

inline constexpr char file_magic[8] = {'M', 'M', 'I', 'O', 'S', 'C', 'O', 'P'};
inline constexpr std::uint32_t file_endianness = 0x0102'0304;
inline constexpr std::uint16_t file_version_major = 2;
inline constexpr std::uint16_t file_version_minor = 0;
inline constexpr std::uint32_t section_magic = 0x5443'4553; // "SECT"

struct FileHeader {
    char magic[8];
    std::uint32_t endianness; ///< file_endianness in the writer's byte order
    std::uint16_t version_major;
    std::uint16_t version_minor;
    std::uint32_t header_size; ///< bytes; the first section begins there
    std::uint32_t reserved;
    std::uint32_t header_crc; ///< of the bytes before it
    std::uint32_t reserved1;
};
static_assert(sizeof(FileHeader) == 32);

enum class SectionType : std::uint32_t {
    info = 1,          ///< Info
    device_tree = 2,   ///< the flattened device tree that the guest got
    regions = 3,       ///< RegionEntry[]
    records = 4,       ///< Record[], `commit` as in the ring
    losses = 5,        ///< Loss[]
    statistics = 6,    ///< Statistics[], one per CPU
    text = 7,          ///< UTF-8 "key=value" lines: guest kernel, command line, tool version
    end = 8,           ///< End
    previous_boot = 9, ///< area (abi/ring.hpp) with the previous boot's last records
    index = 10,        ///< IndexHeader, IndexEntry[]; directly before `end`
    // host-tools uses 11 to 17: symbols, modules, tasks, console, callers, packed records, frames.
};

/// If a section's type has this bit, its payload is one zstd frame (RFC 8878) that contains the
/// payload of the type without the bit.
inline constexpr std::uint32_t section_zstd = 1u << 31;

struct SectionHeader {
    std::uint32_t magic; ///< section_magic
    SectionType type;
    std::uint64_t size;       ///< payload bytes in the file, without padding
    std::uint32_t crc;        ///< of the payload
    std::uint32_t header_crc; ///< of the bytes before it
};
static_assert(sizeof(SectionHeader) == 24);

/// A `records` section has at most this many payload bytes; a reader may refuse more.
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

/// A series of lost records of one CPU.
struct Loss {
    std::uint32_t cpu;
    std::uint32_t first_sequence; ///< cpu_sequence of the first lost record
    std::uint64_t count;
    std::uint64_t time; ///< of the gap record that reports the loss
};
static_assert(sizeof(Loss) == 24);

/// How the recording ended.
enum class Ending : std::uint32_t {
    machine_off = 0,   ///< the machine switched itself off or QEMU ended
    interrupted = 1,   ///< Ctrl-C or a signal
    time_limit = 2,    ///< the recorder's own limit
    panicked = 3,      ///< the hypervisor stopped with a report
    failed = 4,        ///< the emulator could not be started or died
    machine_reset = 5, ///< the machine was reset: its next boot has another file
    stream_ended = 6,  ///< the stream ended without an `end` frame
    continued = 7,     ///< the trace goes on in the next file
    said = 8,          ///< the guest said what the user had waited for
    halted = 9,        ///< the guest stopped its CPUs, and the machine stayed on
};

struct End {
    std::uint64_t records; ///< in all `records` and packed sections
    std::uint64_t lost;
    Ending ending;
    std::uint32_t reserved;
    // From version 1.2 on.
    std::uint64_t index_offset; ///< file offset of the index's section header; 0: no index
};
static_assert(sizeof(End) == 32);
inline constexpr std::size_t first_end_size = 24; ///< sizeof(End) before version 1.2

/// The index divides the file before it into parts of one or more whole sections, from the first
/// section on. With it, a reader finds the records of a time range, and all sections other than
/// records, without reading the rest. A file that was cut has no index.
struct IndexHeader {
    std::uint32_t entry_size; ///< sizeof(IndexEntry) in the writer
    std::uint32_t reserved;
    std::uint64_t end; ///< file offset where the last part ends: the index's own section header
};
static_assert(sizeof(IndexHeader) == 16);

/// One part of the file.
struct IndexEntry {
    std::uint64_t offset;         ///< file offset of its first section's header
    std::uint64_t records_before; ///< in all sections before it
    std::uint64_t earliest;       ///< earliest time of its records; 2^64-1 if it has none
    std::uint64_t latest;         ///< latest time of its records; 0 if it has none
    std::uint32_t types; ///< bit n: has a section of type n (n < 29); bit 31: of type 29 or more;
                         ///< index_teaches, index_begins
    std::uint32_t reserved;
};
static_assert(sizeof(IndexEntry) == 40);

/// The bit of IndexEntry::types for `type`.
constexpr std::uint32_t index_type_bit(SectionType type) {
    const auto number = static_cast<std::uint32_t>(type);
    return 1u << (number < 29 ? number : 31);
}

/// Bit of IndexEntry::types: the part may have records of type `task` or `marker`, which say
/// something about later records.
inline constexpr std::uint32_t index_teaches = 1u << 30;
/// Bit of IndexEntry::types: the part may have records of type `begin`; one whose access never
/// ended is shown at the end of the trace.
inline constexpr std::uint32_t index_begins = 1u << 29;

} // namespace mmioscope::abi
