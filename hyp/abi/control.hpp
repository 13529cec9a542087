// Control while the guest runs: requests and replies, the same over a wire and through the control
// page; and requests alone, for the time before it runs.
//
// Constraints: 16 bytes each, so that one fits a UART's receive FIFO; little endian; each carries
// its own check, so that noise and half-written requests are refused; a request means the same
// however often it is sent, but for markers. What is longer (a marker's text) goes in pieces, each
// a request with its own reply.
//
// A trigger that fires makes a configuration record with the tag of the request that armed it and
// the value `fired`, in front of the first record or behind the last, with the same time.
//
// Each change is a `configuration` record, each marker a `marker` record: `value` has both
// arguments (the first in bits 31:0), pa_low is change_tag(), `device` the region of select and
// deselect. What a change says holds for every access whose record or whose time is later, and for
// none before.
//
// The control page, for the guest (layout.hpp says where, the guest's device tree too: compatible
// "mmioscope,control-1", reg: page, trace area; reg-names: "control", "trace"). Words only, by single
// loads and stores:
//
//   0x000  page_magic    0x004  version    0x008  ticket: each read gives the number of another
//   slot 0x800 + 32 n         slot n: request (4 words, the store of the last one executes it),
//   reply (4)
//
// Slots are used in turn by all; a reply with another id than the request's tells that somebody
// else has come around: ask again.
//
// Over a wire a request is its 16 bytes, and nothing around them: whenever the last 16 bytes that
// came in are a sound request, they are one, so that noise in front costs nothing. The reply is a
// frame of the stream (wire.hpp, `reply`). Whoever asks waits for it before asking again; without
// one, the same 16 bytes are sent again, and are carried out once.
//
// Before the guest's first instruction a request is three words under /chosen (layout.hpp,
// `mmioscope,requests`); its id is its place there, from 0. What has no meaning then is refused as
// `unavailable`: describe, statistic, flush, snapshot, hello.
//
// Compatibility: numbers are never reused; a new command is a new number; a request of another
// version is refused, and the reply's version is the hypervisor's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope::abi::control {

inline constexpr std::uint8_t version = 1;
inline constexpr char compatible[] = "mmioscope,control-1";

enum class Command : std::uint8_t {
    describe = 0,          ///< value[0]: regions; value[1]: CPUs in 7:0, tracing is on in 8
    start = 1,             ///< what is selected is traced
    stop = 2,              ///< nothing is
    select = 3,            ///< argument[0]: a region's index, or all_regions
    deselect = 4,          ///< likewise
    select_range = 5,      ///< physical address, bytes; no finer than what was cut at boot
    deselect_range = 6,    ///< likewise
    filter_directions = 7, ///< 1: loads, 2: stores, 3: both
    filter_addresses = 8,  ///< physical address, bytes (0: any)
    filter_values = 9,     ///< mask, value; an unknown value passes
    filter_cpus = 10,      ///< a bit for each CPU
    filter_pcs = 11,       ///< first address, bytes (0: any)
    no_filter = 12,
    sample = 13,      ///< one record in argument[0] that pass the filters, for each CPU
    policy = 14,      ///< an abi::Policy: between drop and stall
    marker = 15,      ///< a number of 64 bits
    marker_text = 16, ///< 8 characters; zero ends the text, else the next id goes on
    statistic = 17,   ///< index of a word of abi::Statistics, CPU; value: the word
    flush = 18,       ///< done when every record published is where readers find it
    snapshot = 19,    ///< each CPU's last records go where the previous boot's are kept (ring.hpp)
    hello = 20,       ///< the stream's description is sent again now

    // A trigger: what it looks for, then what it does. It sees all that is traced, filters or not.
    trigger_directions = 21, ///< as filter_directions
    trigger_addresses = 22,  ///< as filter_addresses
    trigger_values = 23,     ///< as filter_values
    trigger_start = 24,      ///< no records until access number argument[0] that matches
    trigger_stop = 25,       ///< no records behind it
    no_trigger = 26,         ///< none is armed, none looks for anything, all is as without
};
inline constexpr std::uint32_t all_regions = 0xffff'ffff; ///< that may change
inline constexpr std::uint64_t fired = ~std::uint64_t{0}; ///< Record::value: no request's

enum class Status : std::uint8_t {
    done = 0,
    damaged = 1,       ///< the check is wrong
    other_version = 2, ///< another version's
    unknown = 3,       ///< no such command
    argument = 4,      ///< an argument makes no sense, or one that is not used is not 0
    no_device = 5,     ///< no device's bytes are there
    finer = 6,         ///< the range has an end inside of what can only change as a whole
    fixed = 7,         ///< what cannot change while the guest runs
    erratum = 8,       ///< a CPU cannot be told to forget translations (Cortex-A15 erratum 798181)
    engine = 9,        ///< the baseline engine's tables change by themselves
    no_room = 10,      ///< this CPU's ring is full: the change could not be told
    unavailable = 11   ///< what it is about is not there: no stream, no free place for
                       ///< a snapshot, or no guest yet
};

struct Request {
    std::uint8_t version;
    Command command;
    std::uint16_t id; ///< chosen by whoever asks
    std::uint32_t argument[2];
    std::uint32_t check; ///< check_of()
};

struct Reply {
    std::uint8_t version;
    Status status;
    std::uint16_t id; ///< the request's
    std::uint32_t value[2];
    std::uint32_t check;
};
static_assert(sizeof(Request) == 16 && sizeof(Reply) == 16);

/// CRC-32 (IEEE 802.3) of all but the check itself, of a Request or a Reply.
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

/// A request of this version.
constexpr Request make_request(Command command, std::uint16_t id, std::uint32_t first = 0,
                               std::uint32_t second = 0) {
    Request request{version, command, id, {first, second}, 0};
    request.check = check_of(request);
    return request;
}

/// Record::pa_low of a `configuration` or `marker` record that a request made.
constexpr std::uint32_t change_tag(const Request& r) {
    return static_cast<std::uint8_t>(r.command) | std::uint32_t{r.id} << 16;
}
constexpr Command tag_command(std::uint32_t tag) {
    return static_cast<Command>(tag & 0xff);
}

// The control page.
inline constexpr std::uint32_t page_magic = 0x4343'4d4d; // "MMCC"
inline constexpr unsigned page_ticket = 0x008;
inline constexpr unsigned first_slot = 0x800;
inline constexpr unsigned slot_size = sizeof(Request) + sizeof(Reply);
inline constexpr unsigned slots = 64;
static_assert(first_slot + slots * slot_size == 4096);

} // namespace mmioscope::abi::control
