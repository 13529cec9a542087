// The stream: the trace on a wire that loses bytes, to a listener who may come late.
//
// Constraints: written a few bytes at a time by a CPU in Hyp, without a heap; nothing is asked
// for again; bytes may be lost, changed or inserted anywhere, and the listener picks up at the next
// frame; nothing that is damaged is taken for sound.
//
//   wire      0 frame 0 frame 0 ...        zeros stand between frames and nowhere else
//   frame     COBS of: FrameHeader payload crc
//
// COBS (Cheshire and Baker, 1999): the bytes up to each zero with their number plus one in front,
// in pieces of at most 254. `crc` is the CRC-32 of IEEE 802.3 over header and payload, little
// endian. `sequence` counts frames, so that missing ones are known by number; what they held is
// known from the records' cpu_sequence.
//
//   hello     HelloHeader, then a piece of the description: what is needed to read the rest
//   records   RecordsHeader, then records as abi/record_codec.hpp codes them, all CPUs' in the
//             order of time; equal reads may be counted (abi/fold.hpp). A model of its own: no
//             frame needs another but the hello
//   end       EndHeader, then Statistics[cpu_count]: the machine is about to end. What the guest
//             does until then follows, with another end
//   reply     abi::control::Reply, to a request that came in over the wire (control.hpp)
//   previous_hello, previous_records, previous_end
//             what this boot has kept of the previous one (abi/ring.hpp), once, behind the first
//             description: its description, as a hello; the end of its records, as records; KeptEnd,
//             KeptCpu[cpu_count]. `boot` is this boot's. Only a repetition where the previous boot
//             had sent all it had
//
// The description is sent first, and again every `hello_interval` seconds. It is
//
//   Description
//   StreamRegion and path, `region_count` times; the path is `shared` bytes of the one before it
//     and `rest` more
//   aliases: "name\0path\0" for each, up to the end
//
// Sizes: a frame has at most max_frame bytes before COBS; of a damaged frame that is all that is
// lost.
//
// Compatibility: as abi/ring.hpp. Frames of an unknown type are skipped. `version` counts as
// version_major does: readers refuse a newer one.
#pragma once

#include "abi/container.hpp"
#include "abi/control.hpp"

namespace mmioscope::abi {

inline constexpr std::uint8_t wire_version = 2;
inline constexpr std::size_t max_frame = 4096;
inline constexpr unsigned hello_interval = 10; ///< seconds

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
    std::uint32_t boot; ///< the first four bytes of the boot id: frames of one boot have the same
};
static_assert(sizeof(FrameHeader) == 8);

inline constexpr std::size_t frame_overhead = sizeof(FrameHeader) + sizeof(std::uint32_t);
inline constexpr std::size_t max_payload = max_frame - frame_overhead;

struct HelloHeader {
    std::uint16_t piece;
    std::uint16_t pieces;
    std::uint32_t size; ///< bytes of the whole description
};
static_assert(sizeof(HelloHeader) == 8);

inline constexpr std::size_t max_piece = 1024;              ///< bytes; all but the last are as long
inline constexpr std::uint32_t max_description = 64 * 1024; ///< readers refuse a longer one

struct Description {
    Info info;
    std::uint64_t area_base;
    std::uint64_t area_size;
    std::uint32_t region_count;
    std::uint32_t time_shift; ///< times are in units of 2^time_shift ticks, 0 to max_time_shift
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

/// Why nothing follows.
enum class StreamEnd : std::uint32_t {
    machine_off = 0,   ///< the guest has switched the machine off
    machine_reset = 1, ///< the guest has reset it: another boot may follow
    panicked = 2,      ///< the hypervisor has stopped
    stopped = 3,       ///< the sender was told to end; the machine runs on
};

struct EndHeader {
    StreamEnd reason;
    std::uint32_t cpu_count;
    std::uint32_t next_sequence[max_cpus]; ///< cpu_sequence behind each CPU's last record
};
static_assert(sizeof(EndHeader) == 40);

struct KeptEnd {
    AreaState state;
    std::uint32_t cpu_count;
};
static_assert(sizeof(KeptEnd) == 8);

/// Of one CPU's RingHeader.
struct KeptCpu {
    std::uint64_t head; ///< the records sent are the last ones below it
    std::uint32_t next_sequence;
    InFlight in_flight;
    std::uint64_t in_flight_time;
    std::uint64_t in_flight_pa;
    std::uint32_t in_flight_pc;
    std::uint32_t boot_number; ///< of that boot's rings
    std::uint32_t reserved[6];
    Statistics statistics;
};
static_assert(sizeof(KeptCpu) == 128);

} // namespace mmioscope::abi
