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
// Compatibility: readers refuse a newer `version_major` in one line; `version_minor` may add
// section types and fields at the end of a payload.
#pragma once

#include "abi/ring.hpp"

namespace mmioscope::abi {

inline constexpr char file_magic[8] = {'M', 'M', 'I', 'O', 'S', 'C', 'O', 'P'};
inline constexpr std::uint32_t file_endianness = 0x0102'0304;
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
    previous_boot = 9, ///< the area (abi/ring.hpp) in which this boot kept the end of the one before
    // 10 to 14 are taken by host-tools: index, symbols, modules, tasks, console.
};

struct SectionHeader {
    std::uint32_t magic; ///< section_magic
    SectionType type;
    std::uint64_t size;       ///< payload bytes, padding not counted
    std::uint32_t crc;        ///< of the payload
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
    std::uint64_t records; ///< in all `records` sections
    std::uint64_t lost;
    Ending ending;
    std::uint32_t reserved;
};
static_assert(sizeof(End) == 24);

} // namespace mmioscope::abi
