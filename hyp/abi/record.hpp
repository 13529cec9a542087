// One trace record: the hypervisor writes it, every reader reads it, and the file contains it.
//
// A record is one cache line (64 bytes, little endian, no pointers), so that one line fill writes
// it. Only one CPU writes it. It may be read while it is being overwritten (see `commit`). Readers
// skip types that they do not know. The layout is the same for the GNU ARM compiler and the host's.
//
// Compatibility: fields never move. A new meaning gets a new type or a new flag bit; anything else
// raises `version_major` in ring.hpp and container.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope::abi {

/// The kind of record. The numbers are part of the format and never reused.
enum class RecordType : std::uint8_t {
    none = 0,             ///< never written; an unused slot
    access = 1,           ///< the guest accessed a device: one record per access on the bus
    begin = 2,            ///< an access is about to be carried out (`pre` mode); see below
    own = 3,              ///< the hypervisor itself accessed a device
    gap = 4,              ///< `value` records of this CPU were lost, from `cpu_sequence` on
    marker = 5,           ///< a mark set by a person or a program; `value` is its number
    configuration = 6,    ///< a change of what is traced
    interrupt = 7,        ///< an interrupt was delivered
    fetch = 8,            ///< the guest executed from a traced page; `value` is unused
    maintenance = 9,      ///< cache maintenance by address on a traced page: no device access
    page_table_walk = 10, ///< a stage-1 walk read a descriptor from a traced page
    fault = 11,   ///< an access that reached no device, or makes no progress: see FaultReason
    power = 12,   ///< a CPU or the machine was started or stopped: see PowerEvent
    fold = 13,    ///< `value` more equal accesses, in a stream only: see fold.hpp
    task = 14,    ///< the name of the task at `task`: see task_name.hpp
    payload = 15, ///< bytes that belong to the record before it: see payload.hpp
    call = 16,    ///< the guest executed a probed instruction: see below
    ret = 17,     ///< it executed the one behind a call of a probed function: see below
    hits = 20,    ///< how often it executed one without a record: see below
    move = 21,    ///< a page of memory came to this CPU: see move_value()
};

// A `call` record is written before the instruction at `pc` is executed, usually the first one of a
// function: `lr` is where it will return. `value` has r0 in bits 31:0 and r1 in 63:32, `va` is r2,
// `pa_low` is r3. With flag_returns its return makes a record.
//
// A `ret` record is written before the instruction at `lr` is executed; `value` is as above. It
// ends the call with the same `lr` and `sp`. In a ring and a stream `pc` is `lr`, since the
// hypervisor does not know which call that was, and whether the guest came there by another way. In
// a file `pc` is that of the call, and `duration` the time since then; or `pc` is still `lr`: there
// was none.

// A `hits` record counts hits of the probe at `pc`, on any CPU, that made no record, and are in no
// earlier one: `value` has those that met the probe's conditions in bits 31:0, others in 63:32. A
// CPU writes one when it has counted 1, 2, 4, 8, ... of a kind; the rest comes when the probe ends,
// and when the machine does.

// A `begin` record is in memory before its access goes out, under the same lock. The next record of
// its CPU tells how the access went, and has the same `time`, `pc` and `lock_sequence`. `value` is
// what will be stored; it is unknown for a load, and for an instruction of several accesses, of
// which the begin record has the first. A begin record does not count as an access.

/// Why an access reached no device, or what is wrong with it. `value` of a `fault` record is
/// fault_value().
enum class FaultReason : std::uint8_t {
    none = 0,
    unnamed_address = 1,       ///< no device tree node names the address
    hypervisor_device = 2,     ///< the address belongs to the hypervisor's own UART
    hypervisor_memory = 3,     ///< the address belongs to the hypervisor's memory
    loads_pc = 4,              ///< the instruction loads the PC from a device: refused
    undecodable = 5,           ///< the instruction could not be read or is no load or store
    step_ended_abnormally = 6, ///< the re-executed instruction took an exception instead
    no_progress = 7,           ///< the same access traps again and again; see below
    external_abort = 8,        ///< the device answered with an external abort
    lock_not_given_back = 9,   ///< a CPU has held the region's lock for two seconds
    table_walk_abort = 10, ///< a walk of the hypervisor's tables met an external abort; see below
    uart_kept = 11,        ///< a store would have stopped a UART of the hypervisor's; see below
    uart_stopped = 12,     ///< a store stops a UART of the hypervisor's
    no_breakpoints = 13,   ///< only a step by breakpoints could do it: refused
    access_unknown = 14,   ///< unknown whether an access was made; see below
    walk_of_fetch = 15,    ///< a fetch needs a page table in a traced page: refused
};

// table_walk_abort: the access or fetch never had a physical address; `pa` is 0 and has no meaning.

// no_progress has two cases. An access that traps in its own step is refused; `device` is
// no_device. A load-exclusive that is executed again and again, with no store-exclusive that traps,
// keeps its access records; now and then this record, with the load's `device`, stands beside one
// of them.

// access_unknown: an instruction of several accesses took an exception, and may have made some of
// them before; or an instruction is not decoded, and the guest has reached it by a page table in a
// traced page. The record has flag_value_unknown. If `pa` is 0, the access's address is not known.

// uart_kept, uart_stopped: the store clears the bit that gates the UART's clock, or that keeps it
// out of reset, and `pa` is that register. It reaches the device; its access record follows. The
// bit stays set in what uart_kept's store writes, and so in that record. Bits 31:16 of `value` are
// the UART's region.

/// `cpu`: who holds the lock, for lock_not_given_back. For all other reasons bits 15:8 are zero, so
/// older readers may compare the whole value.
constexpr std::uint64_t fault_value(FaultReason reason, unsigned cpu = 0) {
    return (std::uint64_t{cpu & 0xff} << 8) | static_cast<std::uint8_t>(reason);
}
constexpr FaultReason fault_reason(std::uint64_t value) {
    return static_cast<FaultReason>(value & 0xff);
}
constexpr unsigned fault_cpu(std::uint64_t value) {
    return static_cast<unsigned>(value >> 8 & 0xff);
}
/// `reason`: uart_kept or uart_stopped.
constexpr std::uint64_t uart_fault_value(FaultReason reason, std::uint16_t region) {
    return fault_value(reason) | std::uint64_t{region} << 16;
}
constexpr unsigned fault_region(std::uint64_t value) {
    return static_cast<unsigned>(value >> 16 & 0xffff);
}

/// What happened. `value` of a `power` record is power_value(); `pa` is the entry of a CPU that was
/// started, otherwise where the guest made the request.
enum class PowerEvent : std::uint8_t {
    cpu_on = 0,
    cpu_off = 1,
    system_off = 2,
    system_reset = 3,
};

constexpr std::uint64_t power_value(PowerEvent event, unsigned cpu) {
    return (std::uint64_t{static_cast<std::uint8_t>(event)} << 8) | (cpu & 0xff);
}

/// What the guest wanted of the page of a `move` record; or Hyp: from `freed` on all CPUs have the
/// page, since it moved too often (chosen::pages), until `taken_back`: then nobody has it.
enum class MoveBy : std::uint8_t { load, store, fetch, walk, freed, taken_back };

// A `move` record is written before the access at `pa` is made, or at the page of `pa` if a walk of
// the guest's own tables (by a load, store or fetch at `va`) made it. Until then this CPU could not
// make it, and the CPUs that could are in the value. A store takes the page from all of them;
// anything else takes the right to store from the one that had it.

/// `value` of a `move` record. `holders`: the CPUs that could access the page before, a bit each;
/// `writable`: the only one of them could store there.
constexpr std::uint64_t move_value(MoveBy by, unsigned holders, bool writable) {
    return (holders & 0xff) | std::uint64_t{writable} << 8 |
           std::uint64_t{static_cast<std::uint8_t>(by)} << 16;
}
constexpr unsigned move_holders(std::uint64_t value) {
    return static_cast<unsigned>(value & 0xff);
}
constexpr bool move_writable(std::uint64_t value) {
    return (value >> 8 & 1) != 0;
}
constexpr MoveBy move_by(std::uint64_t value) {
    return static_cast<MoveBy>(value >> 16 & 7);
}

/// `Record::device` of an address that is in no region of the region table.
inline constexpr std::uint16_t no_device = 0xffff;

// Bits of Record::access.
inline constexpr std::uint8_t access_write = 1u << 0; ///< a store; clear: a load
inline constexpr unsigned access_size_shift = 1;      ///< bits 3:1: log2 of the size in bytes
inline constexpr std::uint8_t access_size_mask = 0x7; ///< 0 to 6: 1 to 64 bytes
inline constexpr std::uint8_t access_sign_extend = 1u
                                                   << 4; ///< the load sign-extends (LDRSB, LDRSH)
inline constexpr std::uint8_t access_syndrome =
    1u << 5; ///< decoded from HSR (ISV=1), not from the instruction
inline constexpr std::uint8_t access_emulated =
    1u << 6; ///< carried out in Hyp; clear: re-executed by the guest

// Bits of Record::flags.
inline constexpr std::uint8_t flag_value_unknown = 1u << 0; ///< `value` has no meaning
inline constexpr std::uint8_t flag_early =
    1u << 1; ///< published before it was carried out (a write that may end the machine); duration 0
inline constexpr std::uint8_t flag_same_instruction =
    1u << 2; ///< not the first access of its instruction
inline constexpr std::uint8_t flag_boot =
    1u << 3; ///< carried out before the ring existed; `time` is when it was published

inline constexpr std::uint8_t flag_estimated =
    1u << 4; ///< `time` and `duration` are estimates, from a fold record (fold.hpp)
inline constexpr std::uint8_t flag_payload =
    1u << 5; ///< the next record of this CPU belongs to it (payload.hpp)
inline constexpr std::uint8_t flag_returns = 1u << 6; ///< of a call: its return makes a record

/// Bit of Record::mode: the guest was in Thumb state. Bits 4:0 are CPSR.M (ARM ARM B1.3.1).
inline constexpr std::uint8_t mode_thumb = 1u << 5;

struct alignas(64) Record {
    /// commit_word() (ring.hpp); written last, after a DMB. If a reader finds another value in the
    /// slot of a position, the writer has overtaken it.
    std::uint32_t commit;
    RecordType type;
    std::uint8_t cpu;            ///< number of the CPU that writes the record (docs/design.md)
    std::uint8_t access;         ///< access_* bits
    std::uint8_t mode;           ///< the guest's CPSR.M, and mode_thumb
    std::uint64_t time;          ///< CNTPCT in ticks, read under the lock, just before the access
    std::uint32_t duration;      ///< ticks from `time` until the access was known to be done
    std::uint32_t lock_sequence; ///< order of all accesses to one region, modulo 2^32
    std::uint32_t cpu_sequence;  ///< counts every record of this CPU, lost ones too, modulo 2^32
    std::uint16_t device;        ///< index into the region table, or no_device
    std::uint8_t flags;          ///< flag_* bits
    std::uint8_t pa_high;        ///< physical address, bits 39:32
    std::uint64_t value;         ///< as on the bus: zero-extended, no wider than the access
    std::uint32_t pc;            ///< address of the instruction
    std::uint32_t lr;            ///< LR of the guest's mode
    std::uint32_t sp;            ///< SP of the guest's mode
    std::uint32_t va;            ///< virtual address of the access (HDFAR)
    std::uint32_t pa_low;        ///< physical address, bits 31:0
    std::uint32_t task;          ///< TPIDRURO; SP_svc if the guest was in User mode
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

/// Sets the 40-bit physical address of a record.
constexpr void set_physical_address(Record& r, std::uint64_t address) {
    r.pa_low = static_cast<std::uint32_t>(address);
    r.pa_high = static_cast<std::uint8_t>(address >> 32);
}

/// True for a store.
constexpr bool is_write(const Record& r) {
    return (r.access & access_write) != 0;
}

/// Whether `next`, the record after `begin` on the same CPU, tells how that access went.
constexpr bool ends(const Record& begin, const Record& next) {
    const bool outcome = next.type == RecordType::access || next.type == RecordType::fault ||
                         next.type == RecordType::page_table_walk;
    return outcome && next.cpu_sequence == begin.cpu_sequence + 1 && next.time == begin.time &&
           next.pc == begin.pc;
}

/// Whether another CPU loses the page of a `move` record, or the right to store there.
constexpr bool takes(const Record& move) {
    const bool others = (move_holders(move.value) & ~(1u << move.cpu % 8)) != 0;
    return others && (move_by(move.value) == MoveBy::store || move_writable(move.value));
}

/// Size of the access in bytes, 1 to 64.
constexpr unsigned access_size(const Record& r) {
    return 1u << ((r.access >> access_size_shift) & access_size_mask);
}

/// Record::access bits of direction and size. `log2_size`: 0 to 6.
constexpr std::uint8_t encode_access(bool write, unsigned log2_size) {
    return static_cast<std::uint8_t>((write ? access_write : 0u) |
                                     ((log2_size & access_size_mask) << access_size_shift));
}

} // namespace mmioscope::abi
