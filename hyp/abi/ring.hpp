// The trace area: the piece of DRAM that hypervisor and readers share.
//
//   area + 0                AreaHeader     what this is, where the rest lies
//   area + regions_offset   RegionEntry[]  the devices, in the order of Record::device
//   area + ring_offset[n]   RingHeader     of CPU n, one page
//                           Record[]       `capacity` of them, right behind
//
// Positions are 64-bit and count records for ever; position p lives in slot p % capacity.
// One writer per ring (its CPU) and at most two readers. Order (ARM ARM A3.8.3):
//
//   writer: payload, DMB, commit, DMB, head          reader: head, DMB, payload, DMB, tail
//
// so a record below `head` is whole, and a slot below every tail may be written again.
// A reader never writes anything but its own Reader line. `tail` may be written by words: what is
// ahead of the head, or further behind than the ring is long, is not believed, and the one before
// it holds.
//
// The area outlives a warm reset. Before it is made anew, the hypervisor copies the end of what the
// previous boot left, where that holds together, to a small area of its own at `kept_offset`, its
// last kept_records records of each CPU at the positions they had (so in other slots). It is
// laid out as any other, all offsets relative to its own start, and never changes, unless a
// snapshot of the boot itself takes its place (control.hpp): then both have the same boot_id.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::abi {

inline constexpr std::uint64_t area_magic = 0x3150'4353'4f49'4d4d; // "MMIOSCP1"
inline constexpr std::uint64_t ring_magic = 0x3147'4e52'4f49'4d4d; // "MMIORNG1"
inline constexpr std::uint16_t version_major = 3;                  ///< readers refuse a newer one
inline constexpr std::uint16_t version_minor = 0;                  ///< may only add

inline constexpr unsigned max_cpus = 8;
inline constexpr unsigned max_regions = 256;
inline constexpr unsigned path_size = 104;
inline constexpr unsigned reader_count = 2;
inline constexpr unsigned host_reader = 0;  ///< the reader over shared memory
inline constexpr unsigned drain_reader = 1; ///< through which the trace leaves a board: the
                                            ///< hypervisor's stream, or a program of the guest's

/// The guest's node /mmioscope has this where the guest may map the area (reg-names: "trace").
inline constexpr char readable_compatible[] = "mmioscope,trace-1";

/// What happens when a ring is full.
enum class Policy : std::uint32_t {
    drop = 0,   ///< the newest record is dropped; a gap record says how many
    stall = 1,  ///< the guest retries the instruction until there is room
    flight = 2, ///< the oldest record is overwritten
};

/// How accesses are carried out.
enum class EngineKind : std::uint32_t {
    shadow = 0,
    emulation = 1,
    unprotect = 2, ///< the baseline for comparison: loses events unnoticed
};

/// AreaHeader::state.
enum class AreaState : std::uint32_t {
    starting = 0, ///< nothing but `magic` may be relied on
    running = 1,  ///< everything is filled in
    panicked = 2, ///< the hypervisor stopped with a report on its UART
};

/// AreaHeader::kept: what became of the previous boot's records.
enum class Kept : std::uint32_t {
    none = 0,         ///< there was no area: a cold start
    kept = 1,         ///< at kept_offset
    damaged = 2,      ///< there was one, but it did not hold together
    other_layout = 3, ///< it was of another size, place, number of CPUs, or version
    no_room = 4,      ///< this area is too small to keep anything
};

struct AreaHeader {
    std::uint64_t magic; ///< area_magic; written last
    std::uint16_t version_major;
    std::uint16_t version_minor;
    std::uint32_t header_size;       ///< of this structure, in bytes
    std::uint64_t area_base;         ///< physical address of the area
    std::uint64_t area_size;         ///< bytes
    std::uint8_t boot_id[16];        ///< differs from boot to boot
    std::uint32_t counter_frequency; ///< CNTFRQ, Hz
    AreaState state;
    EngineKind engine;
    Policy policy;
    std::uint32_t cpu_count;    ///< CPUs with a ring, 1 to max_cpus
    std::uint32_t region_count; ///< 0 to max_regions
    std::uint32_t regions_offset;
    std::uint32_t region_size; ///< sizeof(RegionEntry) of the writer
    std::uint32_t record_size; ///< sizeof(Record) of the writer
    std::uint32_t tree_size;   ///< bytes of the device tree the guest was given
    std::uint64_t tree_base;   ///< its physical address; valid until the guest reuses it
    char board[32];            ///< zero-terminated
    std::uint32_t ring_offset[max_cpus];
    // From version 1.1 on.
    std::uint32_t description_crc; ///< description_crc() of this area (abi/description.hpp)
    Kept kept;
    std::uint32_t kept_offset; ///< of the previous boot's area; 0: no room for one
    std::uint32_t kept_size;   ///< bytes set aside for it
    std::uint32_t boot_number; ///< the previous boot's and 1, modulo 2^32; see commit_word()
    std::uint32_t reserved;
};
static_assert(sizeof(AreaHeader) == 184);

// Bits of RegionEntry::flags.
inline constexpr std::uint16_t region_traced = 1u << 0;   ///< selected: accesses become records
inline constexpr std::uint16_t region_disabled = 1u << 1; ///< its node has status = "disabled"
inline constexpr std::uint16_t region_memory =
    1u << 2; ///< RAM-backed (video RAM, SRAM, flash): not part of `all`
inline constexpr std::uint16_t region_hypervisor =
    1u << 3; ///< the hypervisor's own device: not the guest's
inline constexpr std::uint16_t region_machine =
    1u << 4; ///< can end the machine or start CPUs: always trapped
inline constexpr std::uint16_t region_stream =
    1u << 5; ///< the stream (abi/wire.hpp) leaves through it: its accesses make no records

/// One `reg` entry of one device tree node.
struct RegionEntry {
    std::uint64_t base;      ///< physical address, through all `ranges`
    std::uint64_t size;      ///< bytes
    std::uint16_t reg_index; ///< which entry of `reg`
    std::uint16_t flags;     ///< region_* bits
    std::uint32_t reserved;
    char path[path_size]; ///< node path, zero-terminated; a longer one keeps its end behind "~"
};
static_assert(sizeof(RegionEntry) == 128);

/// The access a CPU is carrying out, seen by readers at any moment.
enum class InFlight : std::uint32_t {
    none = 0,      ///< any record begun from now on has a later time
    beginning = 1, ///< about to begin: its time is not known yet
    begun = 2,     ///< `time` is set; the record will be published with it
};

struct alignas(64) Reader {
    std::uint64_t tail;   ///< position up to which this reader has read
    std::uint32_t active; ///< 0: the writer does not wait for this reader
    std::uint32_t reserved[13];
};
static_assert(sizeof(Reader) == 64);

/// Counters of one CPU; only that CPU writes them. Traps and accesses carried out are counted by
/// the way, at most `looks_ahead` accesses late.
struct alignas(64) Statistics {
    std::uint64_t traps;      ///< entries into Hyp
    std::uint64_t stepped;    ///< instructions re-executed on the shadow table
    std::uint64_t emulated;   ///< accesses carried out in Hyp
    std::uint64_t unselected; ///< accesses let through without a record: they share a page with a
                              ///< traced device
    std::uint64_t retries;    ///< returns to the guest without progress (lock held, ring full)
    std::uint64_t lock_spins; ///< turns of the lock's waiting loop
    std::uint32_t abnormal;   ///< steps that ended other than at the next instruction
    std::uint32_t emulated_user; ///< of `emulated`, User mode's (PL0), modulo 2^32: the bus saw a
                                 ///< privileged access in place of an unprivileged one
    std::uint64_t filtered;      ///< accesses that a filter kept from becoming records
};
static_assert(sizeof(Statistics) == 64);

struct alignas(4096) RingHeader {
    // Written once, before AreaState::running.
    std::uint64_t magic;    ///< ring_magic
    std::uint64_t capacity; ///< records, at least min_capacity
    std::uint32_t cpu;
    std::uint32_t record_size;
    std::uint32_t boot_number; ///< AreaHeader::boot_number
    std::uint32_t reserved0[9];
    // Written by the ring's CPU.
    alignas(64) std::uint32_t reserved1;
    std::uint32_t next_sequence; ///< cpu_sequence of the record to come
    std::uint64_t head;          ///< records published
    std::uint64_t lost;          ///< records lost, all told
    std::uint64_t first_lost;    ///< position at which the first one is missing; valid if lost > 0
    std::uint64_t last_lost;     ///< likewise the last one
    alignas(64) std::uint32_t reserved2;
    InFlight in_flight; ///< see the enumeration
    std::uint32_t in_flight_pc;
    std::uint32_t reserved3;
    std::uint64_t in_flight_time; ///< CNTPCT
    std::uint64_t in_flight_pa;
    alignas(64) Statistics statistics;
    // Written by the readers.
    Reader readers[reader_count];
};
static_assert(sizeof(RingHeader) == 4096);
static_assert(offsetof(RingHeader, head) == 72 && offsetof(RingHeader, in_flight) == 132);
static_assert(offsetof(RingHeader, in_flight_time) == 144 &&
              offsetof(RingHeader, next_sequence) == 68);
static_assert(offsetof(RingHeader, statistics) == 192 && offsetof(RingHeader, readers) == 256);

/// Record::commit at `position` of a ring. A boot does not clear the slots of the one before: what
/// that has left in one has another word, since positions of one slot differ by multiples of the
/// capacity, and boots by one.
constexpr std::uint32_t commit_word(std::uint32_t boot_number, std::uint64_t position) {
    return static_cast<std::uint32_t>(position + 1) + boot_number;
}

inline constexpr std::uint64_t min_capacity = 1024; ///< records per ring
/// The writer looks at its readers' words at least once in as many records. A reader that becomes
/// active leaves them free: it begins at most capacity - looks_ahead behind the head.
inline constexpr std::uint64_t looks_ahead = 64;
inline constexpr std::uint64_t area_head_size = 64 * 1024;  ///< bytes before the first ring
inline constexpr std::uint64_t kept_records = min_capacity; ///< of each CPU's last boot
static_assert(sizeof(AreaHeader) + max_regions * sizeof(RegionEntry) <= area_head_size);

} // namespace mmioscope::abi
