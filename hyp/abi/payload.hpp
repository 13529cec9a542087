// Bytes that belong to a record, such as memory, a stack or arguments: a group.
//
// A record with flag_payload is followed in its ring by a record of type `payload`. If that has the
// flag, too, another one follows it, and so on; the last one has no flag. So each record of a group
// says whether the next one belongs to it, and of each piece it is known whose it is: a lost owner,
// a lost piece and a lost end are all noticed. A group is published by one store of the head. Its
// records have one time and one place in the order of the region's lock, by which readers merge the
// CPUs, so no other CPU's record comes between them. Each has its own cpu_sequence.
//
//   commit, type, cpu, cpu_sequence   as in any record
//   time, device, lock_sequence       those of the owner
//   flags                             flag_payload or 0
//   pa_high                           index of the piece, from 0
//   access                            bytes in it: piece_bytes, in the last one 1 or more
//   mode, duration                    0
//   value to task                     the bytes; behind the last one 0
#pragma once

#include "abi/record.hpp"

#include <cstring>

namespace mmioscope::abi {

inline constexpr unsigned piece_bytes = sizeof(Record) - offsetof(Record, value); ///< of a piece
static_assert(piece_bytes == 32);
inline constexpr unsigned max_pieces = 128;
inline constexpr unsigned payload_limit = max_pieces * piece_bytes; ///< bytes of one record

/// How many records `bytes` take behind their owner.
constexpr unsigned pieces_of(std::size_t bytes) {
    return static_cast<unsigned>((bytes + piece_bytes - 1) / piece_bytes);
}

/// Whether the next record of its CPU belongs to the same group.
constexpr bool goes_on(const Record& r) {
    return (r.flags & flag_payload) != 0;
}

// Of a record of type `payload`:

constexpr unsigned piece_index(const Record& piece) {
    return piece.pa_high;
}
/// cpu_sequence of the record that owns it.
constexpr std::uint32_t owner_of(const Record& piece) {
    return piece.cpu_sequence - 1 - piece_index(piece);
}
/// Of any record, also of one that nobody has checked: at most piece_bytes.
constexpr unsigned bytes_in(const Record& piece) {
    return piece.access < piece_bytes ? piece.access : piece_bytes;
}
inline const std::uint8_t* bytes_of(const Record& piece) {
    return reinterpret_cast<const std::uint8_t*>(&piece) + offsetof(Record, value);
}
inline std::uint8_t* bytes_of(Record& piece) {
    return reinterpret_cast<std::uint8_t*>(&piece) + offsetof(Record, value);
}
/// Whether a writer can have made it, whatever is before and behind it.
constexpr bool is_sound_piece(const Record& piece) {
    const bool more = goes_on(piece);
    return piece_index(piece) < max_pieces - (more ? 1 : 0) && piece.access > 0 &&
           (more ? piece.access == piece_bytes : piece.access <= piece_bytes);
}

/// The piece behind `before`, which is its owner or the piece in front of it, and for which
/// goes_on() holds; without bytes.
constexpr Record next_piece(const Record& before) {
    const bool first = before.type != RecordType::payload;
    Record piece{};
    piece.type = RecordType::payload;
    piece.cpu = before.cpu;
    piece.time = before.time;
    piece.lock_sequence = before.lock_sequence;
    piece.cpu_sequence = before.cpu_sequence + 1;
    piece.device = before.device;
    piece.pa_high = first ? 0 : static_cast<std::uint8_t>(before.pa_high + 1);
    return piece;
}

/// Whether `piece` is the piece behind `before`, for which goes_on() holds.
constexpr bool follows(const Record& piece, const Record& before) {
    const Record next = next_piece(before);
    return piece.type == next.type && piece.cpu == next.cpu && piece.time == next.time &&
           piece.lock_sequence == next.lock_sequence && piece.cpu_sequence == next.cpu_sequence &&
           piece.device == next.device && piece.pa_high == next.pa_high;
}

/// Gives `piece` the first `count` of `bytes`, 1 to piece_bytes; `more`: others follow it.
inline void set_bytes(Record& piece, const std::uint8_t* bytes, std::size_t count, bool more) {
    piece.access = static_cast<std::uint8_t>(count);
    piece.flags = more ? flag_payload : 0;
    std::memcpy(bytes_of(piece), bytes, count);
}

} // namespace mmioscope::abi
