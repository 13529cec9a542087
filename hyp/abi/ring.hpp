// The trace area: the memory that the hypervisor and the readers share.
//
//   area + 0                AreaHeader     what this is, and where the rest lies
//   area + regions_offset   RegionEntry[]  the devices; Record::device is the index
//   area + ring_offset[n]   RingHeader     of CPU n, one page
//                           Record[]       `capacity` of them, directly after it
//
// Positions are 64-bit counts of records that never wrap; position p is in slot p % capacity. A
// ring has one writer (its CPU) and at most two readers. Order (ARM ARM A3.8.3):
//
//   writer: contents, DMB, commit, DMB, head         reader: head, DMB, contents, DMB, tail
//
// Records of one group (payload.hpp) are below the head together. So up to max_pieces slots behind
// the head may have new commit words, and a reader under Policy::flight looks at a record's commit
// word again after it has copied it.
//
// The in-flight mark is stored before the access's time is known, and ends with the head that
// covers its record, or later. So a reader reads the mark first, then the head that it relies on.
// What a mark says it reads between two looks at the mark: if that has changed, or the slot has a
// commit word, the CPU has gone on. A writer may store head and mark as one word of 64 bits; a
// reader must not rely on that (an emulator makes two stores of it, the head first).
//
// So a record below `head` is complete, and a slot below every tail may be written again. A reader
// writes only its own Reader line. It may write `tail` as two words: the writer ignores a tail that
// is ahead of the head or more than a ring behind it, and goes on with the previous one.
//
// The area survives a warm reset. Before the hypervisor sets it up again, it copies the last
// kept_records records of each CPU of the previous boot, if that area is intact, to a small area at
// `kept_offset`. They keep their positions, and so change slots. The small area is laid out like
// any other, with offsets relative to its own start. It never changes, except when a snapshot of
// the present boot replaces it (control.hpp); then both have the same boot_id.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::abi {

inline constexpr std::uint64_t area_magic = 0x3150'4353'4f49'4d4d; // "MMIOSCP1"
inline constexpr std::uint64_t ring_magic = 0x3147'4e52'4f49'4d4d; // "MMIORNG1"
inline constexpr std::uint16_t version_major = 4;
inline constexpr std::uint16_t version_minor = 0;

inline constexpr unsigned max_cpus = 8;
inline constexpr unsigned max_regions = 256;
inline constexpr unsigned path_size = 104;
inline constexpr unsigned reader_count = 2;
inline constexpr unsigned host_reader = 0; ///< the reader over shared memory
inline constexpr unsigned drain_reader =
    1; ///< takes the trace off a board: the hypervisor's stream, or a program in the guest

/// `compatible` of the guest's node /mmioscope if the guest may map the area (reg-names: "trace").
inline constexpr char readable_compatible[] = "mmioscope,trace-1";

/// What happens when a ring is full.
enum class Policy : std::uint32_t {
    drop = 0,   ///< the new record is lost; a gap record says how many were
    stall = 1,  ///< the guest retries the instruction until there is room
    flight = 2, ///< the oldest record is overwritten
};

/// How accesses are carried out.
enum class EngineKind : std::uint32_t {
    shadow = 0,
    emulation = 1,
    unprotect = 2, ///< the baseline for comparison: it loses events without notice
};

/// AreaHeader::state.
enum class AreaState : std::uint32_t {
    starting = 0, ///< only `magic` is valid
    running = 1,  ///< everything is valid
    panicked = 2, ///< the hypervisor stopped with a report on its UART
};

/// AreaHeader::kept: what became of the previous boot's records.
enum class Kept : std::uint32_t {
    none = 0,         ///< no previous area: a cold start
    kept = 1,         ///< they are at kept_offset
    damaged = 2,      ///< the previous area was damaged
    other_layout = 3, ///< the previous area had another size, place, number of CPUs, or version
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
    std::uint32_t tree_size;   ///< bytes of the guest's device tree
    std::uint64_t tree_base;   ///< its physical address; valid until the guest reuses the memory
    char board[32];            ///< zero-terminated
    std::uint32_t ring_offset[max_cpus];
    // From version 1.1 on.
    std::uint32_t description_crc; ///< description_crc() of this area (abi/description.hpp)
    Kept kept;
    std::uint32_t kept_offset; ///< of the small area for the previous boot; 0: no room
    std::uint32_t kept_size;   ///< bytes reserved for it
    std::uint32_t
        boot_number; ///< one more than the previous boot's, modulo 2^32; see commit_word()
    std::uint32_t reserved;
};
static_assert(sizeof(AreaHeader) == 184);

/// The small area of the previous boot in `area`; null if none was kept.
inline const AreaHeader* previous_boot(const AreaHeader& area) {
    if (area.kept != Kept::kept) return nullptr;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&area);
    return reinterpret_cast<const AreaHeader*>(bytes + area.kept_offset);
}

// Bits of RegionEntry::flags.
inline constexpr std::uint16_t region_traced = 1u << 0;   ///< selected: its accesses become records
inline constexpr std::uint16_t region_disabled = 1u << 1; ///< its node has status = "disabled"
inline constexpr std::uint16_t region_memory =
    1u << 2; ///< memory (video RAM, SRAM, flash): not part of `all`
inline constexpr std::uint16_t region_hypervisor =
    1u << 3; ///< the hypervisor's own device, withheld from the guest
inline constexpr std::uint16_t region_machine =
    1u << 4; ///< can end the machine or start CPUs: always traps
inline constexpr std::uint16_t region_stream =
    1u << 5; ///< the stream (abi/wire.hpp) leaves through it: those accesses make no records

/// One `reg` entry of one device tree node, or one window of a PCI host (`ranges`).
struct RegionEntry {
    std::uint64_t base;      ///< physical address, through all `ranges`
    std::uint64_t size;      ///< bytes
    std::uint16_t reg_index; ///< index in `reg`; entries of `ranges` count on behind it
    std::uint16_t flags;     ///< region_* bits
    std::uint32_t reserved;
    char path[path_size]; ///< zero-terminated; of a longer path "~" and its end
};
static_assert(sizeof(RegionEntry) == 128);

/// RegionEntry::path of all the guest's memory, of which requests choose pages to watch. No node has
/// it.
inline constexpr char memory_path[] = "/memory";

/// What the CPU is doing with an access, visible to readers at any moment. A value above
/// `in_header` is slot_mark(): the access has begun, and its time, PC and address are in that slot,
/// which has no commit word yet.
enum class InFlight : std::uint32_t {
    none = 0,       ///< every record that begins from now on has a later time
    beginning = 1,  ///< about to begin; its time is not known yet. Also all other values below:
    in_header = 16, ///< begun: they are in the ring's header
};
static_assert(max_cpus < static_cast<std::uint32_t>(InFlight::in_header));

constexpr bool is_slot_mark(InFlight mark) {
    return mark > InFlight::in_header;
}
/// Whether an access has begun, so that its record, if there will be one, has a known time.
constexpr bool has_begun(InFlight mark) {
    return mark >= InFlight::in_header;
}

struct alignas(64) Reader {
    std::uint64_t tail;   ///< the reader has read up to this position
    std::uint32_t active; ///< 0: the writer does not wait for this reader
    std::uint32_t reserved[13];
};
static_assert(sizeof(Reader) == 64);

/// Counters of one CPU; only that CPU writes them. The fast path adds traps and accesses at most
/// `reserve_batch` accesses late.
struct alignas(64) Statistics {
    std::uint64_t traps;      ///< entries into Hyp
    std::uint64_t stepped;    ///< instructions that the guest re-executed on the shadow table
    std::uint64_t emulated;   ///< accesses carried out in Hyp
    std::uint64_t unselected; ///< accesses without a record: to untraced bytes of a page that traps
    std::uint64_t retries;    ///< returns to the guest without progress (lock held, ring full)
    std::uint64_t lock_spins; ///< turns of the loop that waits for a lock
    std::uint32_t abnormal;   ///< steps that ended elsewhere than at the next instruction
    std::uint32_t emulated_user; ///< those of `emulated` that User mode (PL0) made, modulo 2^32:
                                 ///< the bus saw them as privileged
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
    alignas(64) std::uint32_t others; ///< how many numbered records, lost ones too, were no
                                      ///< accesses, modulo 2^32
    std::uint32_t next_sequence;      ///< cpu_sequence of the next record; written after `others`
    std::uint32_t head;               ///< records published, modulo 2^32: the next one's position
    InFlight in_flight;           ///< its end may be written with `head`, as one word of 64 bits
    std::uint32_t half_turns;     ///< 2^31 records each; written after `head`, see position_of()
    std::uint32_t in_flight_pc;   ///< this and the next two: if InFlight::in_header
    std::uint64_t in_flight_time; ///< CNTPCT
    std::uint64_t in_flight_pa;
    std::uint64_t lost;       ///< records lost since the start
    std::uint64_t first_lost; ///< position of the first lost record; valid if lost > 0
    std::uint64_t last_lost;  ///< position of the last lost record; valid if lost > 0
    alignas(64) Statistics statistics;
    // Written by the readers.
    Reader readers[reader_count];
};
static_assert(sizeof(RingHeader) == 4096);
static_assert(offsetof(RingHeader, head) == 72 && offsetof(RingHeader, in_flight) == 76);
static_assert(offsetof(RingHeader, statistics) == 128 && offsetof(RingHeader, readers) == 192);

/// The mark of an access whose record is in the slot at physical address `slot`, below 4 GiB: that
/// of Record::pc, which a writer has at hand.
constexpr InFlight slot_mark(std::uint64_t slot) {
    return InFlight{static_cast<std::uint32_t>(slot + offsetof(Record, pc))};
}
/// Which slot the mark refers to, if the first one is at `slots`; `capacity` or more: none of them.
constexpr std::uint32_t slot_of(InFlight mark, std::uint64_t slots) {
    const std::uint32_t bytes =
        static_cast<std::uint32_t>(mark) - static_cast<std::uint32_t>(slot_mark(slots));
    return bytes % sizeof(Record) == 0 ? static_cast<std::uint32_t>(bytes / sizeof(Record)) : ~0u;
}

/// RingHeader::head as a position, extended by `half_turns`, which was read before it. The writer
/// stores the head first, so the head is less than 2^32 records beyond what `half_turns` says.
constexpr std::uint64_t position_of(std::uint32_t half_turns, std::uint32_t head) {
    const std::uint64_t base = std::uint64_t{half_turns} << 31;
    return base + static_cast<std::uint32_t>(head - static_cast<std::uint32_t>(base));
}
constexpr std::uint32_t half_turns_of(std::uint64_t position) {
    return static_cast<std::uint32_t>(position >> 31);
}
/// For a ring that nobody writes to.
constexpr std::uint64_t position_of(const RingHeader& ring) {
    return position_of(ring.half_turns, ring.head);
}
inline void set_position(RingHeader& ring, std::uint64_t position) {
    ring.half_turns = half_turns_of(position);
    ring.head = static_cast<std::uint32_t>(position);
}

/// Record::commit at `position` of a ring. A boot does not clear the slots: a record that an
/// earlier boot left has another word, since positions of one slot differ by multiples of the
/// capacity, and boot numbers by one.
constexpr std::uint32_t commit_word(std::uint32_t boot_number, std::uint64_t position) {
    return static_cast<std::uint32_t>(position + 1) + boot_number;
}

inline constexpr std::uint64_t min_capacity = 1024; ///< records per ring
/// The writer reads its readers' words at least once in this many records. A reader that becomes
/// active allows for that: it begins at most capacity - reserve_batch behind the head.
inline constexpr std::uint64_t reserve_batch = 64;
inline constexpr std::uint64_t area_head_size = 64 * 1024;  ///< bytes before the first ring
inline constexpr std::uint64_t kept_records = min_capacity; ///< of each CPU, from the previous boot
static_assert(sizeof(AreaHeader) + max_regions * sizeof(RegionEntry) <= area_head_size);

} // namespace mmioscope::abi
