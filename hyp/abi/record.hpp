// One trace record: what the hypervisor writes, every reader reads, and the file holds.
//
// Constraints: one cache line (64 bytes, little endian, no pointers), so that a record is
// written with one line fill and never straddles two; written by one CPU only; readable
// while it is being overwritten (see `commit`); open-ended (readers skip types unknown to
// them); the same layout for the GNU ARM compiler and for the host's.
//
// Compatibility: fields are never moved. A new meaning gets a new type or a new flag bit;
// anything else raises `version_major` in ring.hpp and container.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope::abi {

/// What a record tells. Values are part of the format and never reused.
enum class RecordType : std::uint8_t {
    none = 0,             ///< never written; a slot not yet used
    access = 1,           ///< the guest accessed a device: one record per access on the bus
    begin = 2,            ///< an access is about to be carried out (`pre` mode): see below
    own = 3,              ///< the hypervisor itself accessed a device
    gap = 4,              ///< `value` records of this CPU were lost, from `cpu_sequence` on
    marker = 5,           ///< a mark set by a person or a program; `value` is its number
    configuration = 6,    ///< what is traced changed
    interrupt = 7,        ///< an interrupt was delivered
    fetch = 8,            ///< the guest executed from a traced page; `value` is unused
    maintenance = 9,      ///< cache maintenance by address on a traced page: no device access
    page_table_walk = 10, ///< a stage-1 walk read a descriptor from a traced page
    fault = 11,           ///< an access that reached no device, or gets nowhere: see FaultReason
    power = 12,           ///< a CPU was started or stopped, or the machine: see PowerEvent
    fold = 13,            ///< `value` more of the same, in a stream only: see fold.hpp
    task = 14,            ///< what the guest calls the task at `task`: see task_name.hpp
};

// A `begin` record is in memory before the access it tells of goes out, under the same lock.
// `time`, `pc`, `lock_sequence` are those of the record that tells how the access went; that one is
// the next of its CPU. `value` is what is to be stored; of a load, and of an instruction of several
// accesses, of which it names the first, it is unknown. A begin record is no access.

/// Why an access reached no device, or what is wrong with it (RecordType::fault). `value` is
/// fault_value().
enum class FaultReason : std::uint8_t {
    none = 0,
    unnamed_address = 1,       ///< no device tree node names the address
    hypervisor_device = 2,     ///< the address belongs to the hypervisor's own UART
    hypervisor_memory = 3,     ///< the address belongs to the hypervisor's memory
    loads_pc = 4,              ///< the instruction loads the PC from a device: refused
    undecodable = 5,           ///< the instruction could not be read or is no load or store
    step_ended_abnormally = 6, ///< the re-executed instruction took an exception instead
    no_progress = 7,           ///< the same access trapped again and again; see below
    external_abort = 8,        ///< the device answered with an external abort
    lock_not_given_back = 9,   ///< not yet: for two seconds a CPU has had the region's lock
    table_walk_abort = 10, ///< a walk of the hypervisor's tables met an external abort; see below
};

// table_walk_abort: the access or fetch never had a physical address, so `pa` is 0, and says
// nothing.

// no_progress has two cases. An access that traps in its own step is refused: `device` is
// no_device. A load-exclusive that has been executed again and again with no store-exclusive to see
// has its access record each time, and beside it, now and then, this one, with its `device`.

/// `cpu`: of lock_not_given_back, who has the lock. All other reasons leave bits 15:8 zero, so that
/// readers from before may compare the whole value.
constexpr std::uint64_t fault_value(FaultReason reason, unsigned cpu = 0) {
    return (std::uint64_t{cpu & 0xff} << 8) | static_cast<std::uint8_t>(reason);
}
constexpr FaultReason fault_reason(std::uint64_t value) {
    return static_cast<FaultReason>(value & 0xff);
}
constexpr unsigned fault_cpu(std::uint64_t value) {
    return static_cast<unsigned>(value >> 8 & 0xff);
}

/// What happened (RecordType::power). `value` is power_value(); `pa` is the entry of a CPU that was
/// started, else where the guest asked for it.
enum class PowerEvent : std::uint8_t {
    cpu_on = 0,
    cpu_off = 1,
    system_off = 2,
    system_reset = 3,
};

/// `cpu`: the CPU's number.
constexpr std::uint64_t power_value(PowerEvent event, unsigned cpu) {
    return (std::uint64_t{static_cast<std::uint8_t>(event)} << 8) | (cpu & 0xff);
}

/// `Record::device` of an address that belongs to no region of the region table.
inline constexpr std::uint16_t no_device = 0xffff;

// Bits of Record::access.
inline constexpr std::uint8_t access_write = 1u << 0; ///< a store; clear: a load
inline constexpr unsigned access_size_shift = 1;      ///< bits 3:1: log2 of the size in bytes
inline constexpr std::uint8_t access_size_mask = 0x7; ///< 0..6, that is 1 to 64 bytes
inline constexpr std::uint8_t access_sign_extend = 1u
                                                   << 4; ///< the load sign-extends (LDRSB, LDRSH)
inline constexpr std::uint8_t access_syndrome =
    1u << 5; ///< decoded from HSR (ISV=1), not from the instruction
inline constexpr std::uint8_t access_emulated =
    1u << 6; ///< carried out in Hyp; clear: re-executed by the guest

// Bits of Record::flags.
inline constexpr std::uint8_t flag_value_unknown = 1u << 0; ///< `value` says nothing
inline constexpr std::uint8_t flag_early =
    1u << 1; ///< published before it was carried out (a write that may end the machine); duration 0
inline constexpr std::uint8_t flag_same_instruction =
    1u << 2; ///< not the first access of its instruction
inline constexpr std::uint8_t flag_boot =
    1u << 3; ///< carried out before the ring existed; `time` is that of publication

inline constexpr std::uint8_t flag_estimated =
    1u << 4; ///< `time` and `duration` are estimates: one of a run of reads (fold.hpp)

/// Bit of Record::mode: the guest was in Thumb state. Bits 4:0 are CPSR.M (ARM ARM B1.3.1).
inline constexpr std::uint8_t mode_thumb = 1u << 5;

struct alignas(64) Record {
    /// commit_word() (ring.hpp); written last, after a DMB. A reader that finds another value in
    /// the slot of a position has been overtaken by the writer.
    std::uint32_t commit;
    RecordType type;
    std::uint8_t cpu;            ///< MPIDR.Aff0 of the CPU that writes the record
    std::uint8_t access;         ///< access_* bits
    std::uint8_t mode;           ///< guest's CPSR.M, and mode_thumb
    std::uint64_t time;          ///< CNTPCT in ticks, read under the lock, just before the access
    std::uint32_t duration;      ///< ticks from `time` until the access was known to be done
    std::uint32_t lock_sequence; ///< order among all accesses of one region (modulo 2^32)
    std::uint32_t cpu_sequence;  ///< counts every record of this CPU, lost ones too (modulo 2^32)
    std::uint16_t device;        ///< index into the region table, or no_device
    std::uint8_t flags;          ///< flag_* bits
    std::uint8_t pa_high;        ///< physical address, bits 39:32
    std::uint64_t value;  ///< as on the bus: zero-extended, never more than the access's size
    std::uint32_t pc;     ///< address of the instruction
    std::uint32_t lr;     ///< LR of the guest's mode
    std::uint32_t sp;     ///< SP of the guest's mode
    std::uint32_t va;     ///< virtual address of the access (HDFAR)
    std::uint32_t pa_low; ///< physical address, bits 31:0
    std::uint32_t task;   ///< TPIDRURO; SP_svc if the guest was in User mode
};

static_assert(sizeof(Record) == 64 && alignof(Record) == 64);
static_assert(offsetof(Record, time) == 8 && offsetof(Record, duration) == 16);
static_assert(offsetof(Record, cpu_sequence) == 24 && offsetof(Record, device) == 28);
static_assert(offsetof(Record, value) == 32 && offsetof(Record, pc) == 40);
static_assert(offsetof(Record, va) == 52 && offsetof(Record, task) == 60);

/// The 40-bit physical address of a record.
constexpr std::uint64_t physical_address(const Record& r) {
    return (std::uint64_t{r.pa_high} << 32) | r.pa_low;
}

/// Sets it.
constexpr void set_physical_address(Record& r, std::uint64_t address) {
    r.pa_low = static_cast<std::uint32_t>(address);
    r.pa_high = static_cast<std::uint8_t>(address >> 32);
}

/// True for a store.
constexpr bool is_write(const Record& r) {
    return (r.access & access_write) != 0;
}

/// Whether `next`, the record of the same CPU that follows `begin`, tells how its access went.
constexpr bool ends(const Record& begin, const Record& next) {
    const bool outcome = next.type == RecordType::access || next.type == RecordType::fault ||
                         next.type == RecordType::page_table_walk;
    return outcome && next.cpu_sequence == begin.cpu_sequence + 1 && next.time == begin.time &&
           next.pc == begin.pc;
}

/// Size of the access in bytes, 1 to 64.
constexpr unsigned access_size(const Record& r) {
    return 1u << ((r.access >> access_size_shift) & access_size_mask);
}

/// Encodes direction and size for Record::access. `log2_size`: 0 to 6.
constexpr std::uint8_t encode_access(bool write, unsigned log2_size) {
    return static_cast<std::uint8_t>((write ? access_write : 0u) |
                                     ((log2_size & access_size_mask) << access_size_shift));
}

} // namespace mmioscope::abi
