// Merges the records of several CPUs into one stream in the order of time.
//
// A record may leave only when no other CPU can still publish one that belongs before it. For each
// CPU the caller therefore sets a bound below which no record of that CPU is missing (see
// recorder.cpp), and calls emit() once per pass over the rings. For each other CPU,
//
//   time < bound   the record may leave
//   time = bound   it may leave if it was pushed in an earlier pass and the other CPU was idle in
//                  this one: what that CPU begins later takes its locks later, too
//
// Records with equal times are ordered by lock_sequence within a region, otherwise by CPU.
#pragma once

#include "abi/record.hpp"
#include "file/unfinished.hpp"
#include "rings/area.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::rings {

class Merge {
public:
    explicit Merge(unsigned cpus) : queues_(cpus) {}

    /// Adds records of `cpu`, in the order in which it published them. Leaves `records` empty,
    /// usually with memory for more.
    void push(unsigned cpu, std::vector<abi::Record>&& records);

    /// Promises that no record pushed for `cpu` from now on is earlier than `time`. Bounds must not
    /// decrease. `idle`: in this pass the CPU has not begun a record either.
    void set_bound(unsigned cpu, std::uint64_t time, bool idle);

    /// Appends to `out` the records that may leave, and ends the pass.
    void emit(std::vector<abi::Record>& out);

    /// Whether all pushed records have left.
    bool empty() const;

    /// Appends all remaining records: nothing will be pushed any more.
    void flush(std::vector<abi::Record>& out);

private:
    struct Queue {
        std::vector<abi::Record> old;   ///< pushed in earlier passes
        std::vector<abi::Record> fresh; ///< pushed in this pass; follow `old`
        std::size_t next =
            0; ///< index in `old` and `fresh` together of the first that has not left
        std::uint64_t left = 0; ///< time of the last one that has left
        std::uint64_t bound = 0;
        bool idle = false;
        bool old_in_order = true; ///< the times of `old` do not decrease
        bool fresh_in_order = true;

        std::size_t size() const { return old.size() + fresh.size(); }
        bool empty() const { return next == size(); }
        const abi::Record& at(std::size_t n) const {
            return n < old.size() ? old[n] : fresh[n - old.size()];
        }
        /// Time of the first record. One CPU's records keep their order, whatever their times are.
        std::uint64_t time() const;
        /// Appends the first record to `out`, and those after it that are earlier than `limit`.
        void move_to(std::uint64_t limit, std::vector<abi::Record>& out);
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

// Takes the records from all rings of a trace area, in the order of time.

class OrderedRings {
public:
    /// Reads the rings of `area`, which belongs to the caller, as reader number `reader`. If it
    /// missed records, it takes none that are earlier than these.
    OrderedRings(const Area& area, unsigned reader);

    /// One pass over all rings. Appends to `ordered` the records whose place is certain. Returns
    /// the number of records taken from the rings.
    std::size_t pass(std::vector<abi::Record>& ordered);

    /// From now on takes only records published before this call.
    void stop();
    /// Whether all records taken have been returned.
    bool settled() const { return merge_.empty(); }
    /// Returns the records still held back: nothing will be taken any more.
    void flush(std::vector<abi::Record>& ordered) { merge_.flush(ordered); }
    /// The writers no longer wait for this reader.
    void leave();

    std::uint64_t damaged() const { return damaged_; } ///< records whose slot held a different one
    const std::vector<RingReader>& rings() const { return rings_; }

    /// Accesses that began and have no record.
    std::vector<trace::UnfinishedAccess> unfinished() const;

private:
    std::vector<RingReader> rings_;
    Merge merge_;
    std::uint64_t damaged_ = 0;
    std::uint64_t latest_ = 0; ///< latest time taken in earlier passes
    std::uint64_t missed_ = 0; ///< latest time before this reader began
    std::vector<abi::Record> drained_;
};

} // namespace mmioscope::rings
