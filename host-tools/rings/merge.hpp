// Merges the records of several CPUs into one stream in the order of time.
//
// A record may leave only when no other CPU can still publish one that belongs in front of it.
// So for each CPU the caller tells a bound below which nothing of that CPU is missing (see
// recorder.cpp), and calls emit() once per pass over the rings. Against each other CPU,
//
//   time < bound   the record may leave
//   time = bound   it may if it was pushed in an earlier pass and the other CPU was idle in
//                  this one: what that CPU begins later took its locks later, too
//
// Equal times: the records of one region by lock_sequence, else by CPU.
#pragma once

#include "abi/record.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::rings {

class Merge {
public:
    explicit Merge(unsigned cpus) : queues_(cpus) {}

    /// Records of `cpu`, in the order it published them. `records` is empty afterwards, and as a
    /// rule has memory for others.
    void push(unsigned cpu, std::vector<abi::Record>&& records);

    /// No record pushed for `cpu` from now on is earlier than `time`. Bounds never fall.
    /// `idle`, which holds for this pass: nor has it begun one yet.
    void set_bound(unsigned cpu, std::uint64_t time, bool idle);

    /// Appends what may leave to `out`, and ends the pass.
    void emit(std::vector<abi::Record>& out);

    /// Nothing that was pushed is left.
    bool empty() const;

    /// Appends everything that is left: nothing will be pushed any more.
    void flush(std::vector<abi::Record>& out);

private:
    struct Queue {
        std::vector<abi::Record> old;   ///< pushed in earlier passes
        std::vector<abi::Record> fresh; ///< pushed in this one; behind them
        std::size_t next = 0;           ///< the first one that has not left, of both
        std::uint64_t left = 0;         ///< time of the last one that left
        std::uint64_t bound = 0;
        bool idle = false;
        bool old_in_order = true; ///< no time of `old` is earlier than the one before
        bool fresh_in_order = true;

        std::size_t size() const { return old.size() + fresh.size(); }
        bool empty() const { return next == size(); }
        const abi::Record& at(std::size_t n) const {
            return n < old.size() ? old[n] : fresh[n - old.size()];
        }
        /// Of the first one. The order of one CPU's records holds whatever their times say.
        std::uint64_t time() const;
        /// Appends the first one to `out`, and those behind it that are earlier than `limit`.
        void take(std::uint64_t limit, std::vector<abi::Record>& out);
        void end_pass();
    };

    Queue* choose();
    Queue* choose_tied(Queue* first, std::uint64_t time);
    bool blocked(const Queue& candidate, std::uint64_t time) const;
    bool may_leave(const Queue& queue, std::uint64_t time) const;
    std::uint64_t first_of_others(const Queue& queue) const;
    std::uint64_t bound_of_others(const Queue& queue) const;

    std::vector<Queue> queues_;
};

} // namespace mmioscope::rings
