// Equal reads as a count, on the wire only: a `fold` record stands for `value` more accesses like
// the one of the same CPU before it in its frame. Readers expand them at once; no file holds one.
//
// Equal is everything but times and what counts: a guest that polls a register. A fold record has
// time, duration and sequence numbers' steps of the run: `time` and `duration` are those of the
// last, cpu_sequence, commit and lock_sequence those of the first. Where all steps and durations
// are equal this is exact. Elsewhere those between have times of equal distance, and
// flag_estimated.
#pragma once

#include "abi/record.hpp"

namespace mmioscope::abi {

/// Which runs are folded.
enum class Fold : std::uint8_t {
    off = 0,
    steps = 1, ///< those whose times and durations can be told exactly
    polls = 2, ///< all
};

inline constexpr std::uint32_t max_in_frame = 0xffff; ///< records, folded ones counted one by one

/// Whether `next` is the read `before` once more, by the same CPU, and nothing of that CPU or
/// device was in between.
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

/// The `n`-th, from 1 to `value`, of the records that `fold` stands for, behind `before`.
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
