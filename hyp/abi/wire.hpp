// The stream: the trace on a wire that may lose bytes, for a listener who may come late.
//
// A CPU in Hyp writes it a few bytes at a time, without a heap. Nothing is requested again. Bytes
// may be lost, changed or inserted anywhere; the listener resumes at the next frame and never takes
// damaged data for good.
//
//   wire      0 frame 0 frame 0 ...        zeros stand between frames and nowhere else
//   frame     COBS of: FrameHeader payload crc
//
// COBS (Cheshire and Baker, 1999): each run of bytes up to a zero has its length plus one in front,
// in pieces of at most 254. `crc` is the CRC-32 of IEEE 802.3 over header and payload, little
// endian. `sequence` counts frames, so missing ones are noticed; the records' cpu_sequence tells
// what they held.
//
//   hello     HelloHeader, then a piece of the description, which is needed to read the rest
//   records   RecordsHeader, then records of all CPUs in the order of time, coded as in
//             abi/record_codec.hpp; equal reads may be a count (abi/fold.hpp). The coder's model
//             starts anew in each frame, so a frame needs no other one except the hello
//   end       EndHeader, Statistics[cpu_count], then how many of each CPU's records were no
//             accesses (RingHeader::others; 32 bits), which older senders leave out, then
//             UnfinishedAccess for each CPU in the middle of an access: the machine is about to
//             end, or the guest has stopped its CPUs. What the guest still does follows, within a
//             second with another end; an end that records follow was none
//   reply     abi::control::Reply, to a request that came in over the wire (control.hpp)
//   previous_hello, previous_records, previous_end
//             what this boot kept of the previous one (abi/ring.hpp), once, after the first
//             description: its description, like hello; its last records, like records; KeptEnd
//             and KeptCpu[cpu_count]. `boot` is this boot's. If the previous boot had sent
//             everything, this is only a repetition. Description and end come a second time, for
//             a listener who missed the first one
//
// The description is sent first. It comes again when `hello_share` times its bytes have been sent
// since, then at twice that distance, and so on; every `hello_interval` seconds; and before the
// end. So a listener who missed it needs not much more of a short stream than of a long one, and
// the repetitions are at most a twentieth of a stream of half a `hello_share` or more. It begins
// with its size in bytes (32 bits), then is either as it is, or, if that takes fewer bytes, coded
// as in abi/description_codec.hpp:
//
//   Description
//   StreamRegion and path, `region_count` times; a path is the first `shared` bytes of the
//     previous path and `rest` more bytes
//   aliases: "name\0path\0" for each, up to the end
//
// A frame has at most max_frame bytes before COBS. A damaged frame costs no more than itself.
//
// Compatibility: as in abi/ring.hpp. Readers skip frames of unknown type, and refuse a newer
// `version`, as they do version_major.
#pragma once

#include "abi/container.hpp"
#include "abi/control.hpp"

namespace mmioscope::abi {

inline constexpr std::uint8_t wire_version = 3;
inline constexpr std::size_t max_frame = 4608;
inline constexpr unsigned hello_interval = 10; ///< seconds
inline constexpr unsigned hello_share = 40;

enum class FrameType : std::uint8_t {
    hello = 1,
    records = 2,
    end = 3,
    reply = 4,
    previous_hello = 5,
    previous_records = 6,
    previous_end = 7,
};

struct FrameHeader {
    FrameType type;
    std::uint8_t version; ///< wire_version
    std::uint16_t sequence;
    std::uint32_t boot; ///< the first four bytes of the boot id: the same in all frames of one boot
};
static_assert(sizeof(FrameHeader) == 8);

inline constexpr std::size_t frame_overhead = sizeof(FrameHeader) + sizeof(std::uint32_t);
inline constexpr std::size_t max_payload = max_frame - frame_overhead;

struct HelloHeader {
    std::uint16_t piece;
    std::uint16_t pieces;
    std::uint32_t size; ///< bytes of all pieces together
};
static_assert(sizeof(HelloHeader) == 8);

inline constexpr std::size_t max_piece = 1024; ///< bytes; only the last piece is shorter
inline constexpr std::uint32_t max_description = 64 * 1024; ///< bytes; readers refuse a longer one

struct Description {
    Info info;
    std::uint64_t area_base;
    std::uint64_t area_size;
    std::uint32_t region_count;
    std::uint32_t time_shift; ///< unit of times: 2^time_shift ticks; 0 to max_time_shift
};
static_assert(sizeof(Description) == sizeof(Info) + 24);

inline constexpr unsigned max_time_shift = 24;

struct StreamRegion {
    std::uint64_t base;
    std::uint64_t size;
    std::uint16_t reg_index;
    std::uint16_t flags;
    std::uint8_t shared;
    std::uint8_t rest;
    std::uint16_t reserved;
};
static_assert(sizeof(StreamRegion) == 24);

struct RecordsHeader {
    std::uint16_t count;
    std::uint8_t time_shift;
    std::uint8_t reserved;
};
static_assert(sizeof(RecordsHeader) == 4);

/// Why the stream ends.
enum class StreamEnd : std::uint32_t {
    machine_off = 0,   ///< the guest switched the machine off
    machine_reset = 1, ///< the guest reset the machine: another boot may follow
    panicked = 2,      ///< the hypervisor stopped with a report
    stopped = 3,       ///< the sender was told to stop; the machine goes on
    halted = 4,        ///< the guest stopped all CPUs but one, and then nobody made an access: it
                       ///< halts, or is about to reset
};

struct EndHeader {
    StreamEnd reason;
    std::uint32_t cpu_count;
    std::uint32_t next_sequence[max_cpus]; ///< cpu_sequence after each CPU's last record
};
static_assert(sizeof(EndHeader) == 40);

/// An access that a CPU has begun, and that has no record.
struct UnfinishedAccess {
    std::uint32_t cpu;
    std::uint32_t pc;
    std::uint64_t pa;   ///< of its first word
    std::uint64_t time; ///< CNTPCT when it began
};
static_assert(sizeof(UnfinishedAccess) == 24);

struct KeptEnd {
    AreaState state;
    std::uint32_t cpu_count;
};
static_assert(sizeof(KeptEnd) == 8);

/// From one CPU's RingHeader.
struct KeptCpu {
    std::uint64_t head; ///< the records sent are the last ones before it
    std::uint32_t next_sequence;
    InFlight in_flight;
    std::uint64_t in_flight_time;
    std::uint64_t in_flight_pa;
    std::uint32_t in_flight_pc;
    std::uint32_t boot_number; ///< of the previous boot
    std::uint32_t reserved[6];
    Statistics statistics;
};
static_assert(sizeof(KeptCpu) == 128);

} // namespace mmioscope::abi
