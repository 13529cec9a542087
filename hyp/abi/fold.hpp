// Equal reads as a count, in a stream only: a `fold` record stands for `value` more accesses equal
// to the previous record of the same CPU in its frame. Readers expand it immediately; no file
// contains one.
//
// Two reads are equal if they differ only in times and sequence numbers, as when a guest polls a
// register. `time` and `duration` of a fold record are those of the last access; cpu_sequence,
// commit and lock_sequence are those of the first one it stands for. If all intervals and durations
// are equal, the expansion is exact. Otherwise the accesses in between get times at equal
// distances, and flag_estimated.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::abi {

/// Which series of equal reads are folded.
enum class Fold : std::uint8_t {
    off = 0,
    steps = 1, ///< only those whose times and durations can be reconstructed exactly
    polls = 2, ///< all of them
};

inline constexpr std::uint32_t max_in_frame = 0xffff; ///< records, folded ones counted one by one

/// Whether `next` is the same read as `before`, by the same CPU, with no other record of that CPU
/// and no other access to that device in between.
constexpr bool repeats(const Record& before, const Record& next) {
    return before.type == RecordType::access && next.type == RecordType::access &&
           !is_write(before) && before.cpu == next.cpu && before.access == next.access &&
           before.mode == next.mode && before.device == next.device && before.flags == next.flags &&
           before.pa_high == next.pa_high && before.pa_low == next.pa_low &&
           before.value == next.value && before.pc == next.pc && before.lr == next.lr &&
           before.sp == next.sp && before.va == next.va && before.task == next.task &&
           next.cpu_sequence == before.cpu_sequence + 1 && next.commit == before.commit + 1 &&
           next.lock_sequence == before.lock_sequence + 1;
}

/// Record number `n` (1 to `fold.value`) of those that `fold` stands for; `before` is the record
/// that it repeats.
constexpr Record unfolded(const Record& before, const Record& fold, std::uint32_t n) {
    const bool last = n == fold.value;
    Record r = before;
    r.time = last ? fold.time : before.time + (fold.time - before.time) / fold.value * n;
    r.duration = fold.duration;
    r.flags = last ? before.flags : fold.flags;
    r.cpu_sequence = before.cpu_sequence + n;
    r.commit = before.commit + n;
    r.lock_sequence = before.lock_sequence + n;
    return r;
}

} // namespace mmioscope::abi
