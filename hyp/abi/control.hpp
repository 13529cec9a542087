// Control: requests and replies. While the guest runs they come over a wire or through the control
// page, in the same form. Before its first instruction there are requests only.
//
// Both are 16 bytes, so that one fits a UART's receive FIFO, and little endian. Each has its own
// checksum, so noise and half-written requests are refused. Repeating a request has no further
// effect, except for markers. What is longer than a request (a marker's text) comes in pieces; each
// is a request with its own reply.
//
// Each change makes a `configuration` record, each marker a `marker` record: `value` has both
// arguments (the first in bits 31:0), pa_low is change_tag(), `device` is the region that was
// selected or deselected. A change applies to every access that has a later record or a later time,
// and to no earlier one.
//
// A trigger that fires makes a `configuration` record with the tag of the request that armed it
// (trigger_start or trigger_stop), the value `fired`, and the time of the access: before the first
// record (trigger_start) or after the last one (trigger_stop).
//
// The guest finds the control page by layout.hpp or by its device tree: compatible
// "mmioscope,control-1"; reg: page, trace area; reg-names: "control", "trace". It is accessed by
// words only, with single loads and stores:
//
//   0x000  page_magic    0x004  version    0x008  ticket: each read gives the next slot's number
//   0x800 + 32 n         slot n: request (4 words; storing the last one executes it), reply (4)
//
// All users take the slots in turn. If a reply has another id than the request, somebody else has
// used the slot since: ask again.
//
// Over a wire a request is its 16 bytes and nothing else. Whenever the last 16 bytes received are a
// valid request, they are taken as one, so noise before it does no harm. The reply is a frame of
// the stream (wire.hpp, `reply`). The sender waits for it before it sends another request; if none
// comes, it sends the same 16 bytes again, which are carried out only once.
//
// Before the guest's first instruction a request is three words under /chosen (layout.hpp,
// `mmioscope,requests`); its id is its index there, from 0. describe, statistic, flush, snapshot
// and hello have no meaning then and are refused as `unavailable`.
//
// Compatibility: numbers are never reused; a new command gets a new number. The hypervisor refuses
// a request of another version, and its reply has its own version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope::abi::control {

inline constexpr std::uint8_t version = 1;
inline constexpr char compatible[] = "mmioscope,control-1";

enum class Command : std::uint8_t {
    describe = 0,       ///< value[0]: regions; value[1]: 7:0 CPUs, 8 tracing is on
    start = 1,          ///< trace the selected devices
    stop = 2,           ///< trace nothing
    select = 3,         ///< argument[0]: a region's index, or all_regions
    deselect = 4,       ///< as select
    select_range = 5,   ///< physical address, bytes; no finer than the regions were divided at boot
    deselect_range = 6, ///< as select_range
    filter_directions = 7, ///< 1: loads, 2: stores, 3: both
    filter_addresses = 8,  ///< first physical address, bytes (0: any address)
    filter_values = 9,     ///< mask, value; an unknown value passes
    filter_cpus = 10,      ///< a bit for each CPU
    filter_pcs = 11,       ///< first address, bytes (0: any PC)
    no_filter = 12,
    sample = 13,      ///< record one in argument[0] of the accesses that pass the filters, per CPU
    policy = 14,      ///< an abi::Policy: drop or stall, if the present one is one of them
    marker = 15,      ///< a 64-bit number
    marker_text = 16, ///< 8 characters; a zero ends the text, else the next id continues it
    statistic = 17,   ///< index of a word of abi::Statistics, CPU; value: that word
    flush = 18,       ///< done when readers can find every published record
    snapshot = 19,    ///< each CPU's last records replace the previous boot's (ring.hpp)
    hello = 20,       ///< send the stream's description again now

    // Triggers: first what to match, then what to do. They see all traced accesses, also those that
    // a filter holds back.
    trigger_directions = 21, ///< as filter_directions
    trigger_addresses = 22,  ///< as filter_addresses
    trigger_values = 23,     ///< as filter_values
    trigger_start = 24,      ///< no records before the argument[0]-th access that matches
    trigger_stop = 25,       ///< no records after it
    no_trigger = 26,         ///< disarms the trigger and clears what it matches

    // Probes: a `call` record each time when the guest executes the instruction.
    probe = 27,   ///< virtual address, with `returns` and `frees_code`; the ARM instruction there
    unprobe = 28, ///< virtual address, 0: all probes. In a record, argument[1] is a ProbeEnd

    // Watched memory: its accesses become records.
    watch = 29,   ///< physical address, bytes: at most most_watched
    unwatch = 30, ///< as watch; 0, 0: all. In a record, bits 31:28 of argument[1] are a WatchEnd

    // What a hit does whose probe is set behind them. First the action, then the conditions, all of
    // which must hold, at most most_conditions.
    probe_action = 31, ///< a ProbeAction; one hit in argument[1] of those that meet the conditions,
                       ///< per probe and CPU, from the first one on. There are no conditions
    probe_mask = 32,   ///< 0, mask: of what the next condition looks at
    probe_if = 33,     ///< a ProbeSubject, with a ProbeRelation in bits 15:8; a value
    probe_hits = 34,   ///< virtual address; value: hits that made no record though they met the
                       ///< conditions, and hits that did not meet them; both modulo 2^32

    pages_on = 35,  ///< pages move between CPUs, with a record each time; nobody has one yet
    pages_off = 36, ///< all CPUs have all pages
};

inline constexpr Command last_command = Command::pages_off;

enum class ProbeAction : std::uint32_t {
    record = 0, ///< a `call` record
    count = 1,  ///< nothing but counting; not with `returns`
    // A `call` record, and what trigger_start or trigger_stop does. It is armed with the probe.
    start = 2,
    stop = 3,
};
/// What a condition looks at: r0 to r3, and Record::task.
enum class ProbeSubject : std::uint32_t { r0 = 0, r1 = 1, r2 = 2, r3 = 3, task = 4 };
enum class ProbeRelation : std::uint32_t { equal = 0, other = 1, below = 2, above = 3 };
inline constexpr unsigned most_conditions = 4;
/// argument[0] of probe_if.
constexpr std::uint32_t condition_of(ProbeSubject subject, ProbeRelation relation) {
    return static_cast<std::uint32_t>(subject) | static_cast<std::uint32_t>(relation) << 8;
}

// In the low bits of a probe's address; it is a function's first instruction then.
/// Each return of the function makes a `ret` record.
inline constexpr std::uint32_t returns = 1;
/// The function frees code: before each call the probes end that are in what r0 points to, up to
/// the next address that is not mapped. It makes no records, but with `returns`.
inline constexpr std::uint32_t frees_code = 2;

/// Why a probe ended.
enum class ProbeEnd : std::uint32_t {
    request = 0,
    patched = 1,  ///< the guest has changed the instruction
    page = 2,     ///< the guest has written to the page in a way that Hyp does not follow
    accesses = 3, ///< the instruction has accessed what traps
    // Of those from the start (`mmioscope,probes`), which never were:
    other_code = 4, ///< another instruction was there when the kernel began
    impossible = 5, ///< the instruction, or its place, cannot have a probe
    no_room = 6,    ///< too many pages, or probes
    freed = 7,      ///< the guest frees the code
    unanswered = 8, ///< of mmioscope,loads-modules: nobody has filled the mailbox
};

/// Why a page is no longer watched.
enum class WatchEnd : std::uint32_t {
    request = 0,
    code = 1,    ///< the guest executes what lies there
    walk = 2,    ///< a page table lies there, by which the guest finds what it executes
    unknown = 3, ///< an instruction has accessed it in a way that Hyp cannot follow
};
inline constexpr std::uint32_t most_watched = 16 << 20; ///< bytes, by one request
inline constexpr unsigned watch_end_shift = 28;

inline constexpr std::uint32_t all_regions = 0xffff'ffff; ///< those whose tracing may change
/// Record::value; no trigger_start or trigger_stop has it as its arguments.
inline constexpr std::uint64_t fired = ~std::uint64_t{0};

enum class Status : std::uint8_t {
    done = 0,
    damaged = 1,        ///< the checksum is wrong
    other_version = 2,  ///< the request has another version
    unknown = 3,        ///< no such command
    argument = 4,       ///< an argument is invalid, or one that is not used is not 0
    no_device = 5,      ///< no device there
    finer = 6,          ///< the range begins or ends inside something that changes only as a whole
    fixed = 7,          ///< cannot change while the guest runs
    erratum = 8,        ///< a CPU's TLB cannot be emptied reliably (Cortex-A15 erratum 798181)
    engine = 9,         ///< the baseline engine changes its tables by itself
    no_room = 10,       ///< this CPU's ring has no room for the record of the change
    unavailable = 11,   ///< no stream, no room for a snapshot, no probes or pages, or no guest yet
    other_code = 12,    ///< another instruction is at the address, or nothing of the guest's memory
    not_probed = 13,    ///< no probe is there
    no_probe_here = 14, ///< the instruction, or its place, cannot have a probe
    not_watched = 15,   ///< no watched page is there
    not_watchable = 16  ///< not all of it is memory of the guest that nothing else has taken
};

struct Request {
    std::uint8_t version;
    Command command;
    std::uint16_t id; ///< the sender's choice
    std::uint32_t argument[2];
    std::uint32_t check; ///< check_of()
};

struct Reply {
    std::uint8_t version;
    Status status;
    std::uint16_t id; ///< of the request
    std::uint32_t value[2];
    std::uint32_t check;
};
static_assert(sizeof(Request) == 16 && sizeof(Reply) == 16);

/// The RAM behind the control page, which no access of the guest reaches: for who shares the
/// machine's memory (QEMU's host). While the guest waits at mmioscope,loads-modules, at most
/// mailbox_patience seconds, `probe` requests there are carried out, by ids in turn. Address 0:
/// there are no more.
struct Mailbox {
    std::uint32_t module; ///< r0 of the call that waits; 0: none does
    std::uint32_t reserved;
    Request request;
    Reply reply;
};
inline constexpr std::uint32_t mailbox_patience = 5;

/// CRC-32 (IEEE 802.3) of a Request or a Reply, without the checksum itself.
template <class Message>
constexpr std::uint32_t check_of(const Message& m, std::uint8_t second,
                                 const std::uint32_t (&words)[2]) {
    const std::uint32_t all[3] = {
        m.version | std::uint32_t{second} << 8 | std::uint32_t{m.id} << 16, words[0], words[1]};
    std::uint32_t crc = ~0u;
    for (const std::uint32_t word : all) {
        crc ^= word;
        for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb8'8320u : 0);
    }
    return ~crc;
}
constexpr std::uint32_t check_of(const Request& r) {
    return check_of(r, static_cast<std::uint8_t>(r.command), r.argument);
}
constexpr std::uint32_t check_of(const Reply& r) {
    return check_of(r, static_cast<std::uint8_t>(r.status), r.value);
}

/// A request of this version, with its checksum.
constexpr Request make_request(Command command, std::uint16_t id, std::uint32_t first = 0,
                               std::uint32_t second = 0) {
    Request request{version, command, id, {first, second}, 0};
    request.check = check_of(request);
    return request;
}

/// Record::pa_low of the `configuration` or `marker` record that a request makes.
constexpr std::uint32_t change_tag(const Request& r) {
    return static_cast<std::uint8_t>(r.command) | std::uint32_t{r.id} << 16;
}
constexpr Command tag_command(std::uint32_t tag) {
    return static_cast<Command>(tag & 0xff);
}

inline constexpr std::uint32_t page_magic = 0x4343'4d4d; // "MMCC"
inline constexpr unsigned page_ticket = 0x008;
inline constexpr unsigned first_slot = 0x800;
inline constexpr unsigned slot_size = sizeof(Request) + sizeof(Reply);
inline constexpr unsigned slots = 64;
static_assert(first_slot + slots * slot_size == 4096);

} // namespace mmioscope::abi::control
