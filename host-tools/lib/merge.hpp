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

namespace mmioscope::trace {

class Merge {
public:
    explicit Merge(unsigned cpus) : queues_(cpus) {}

    /// Records of `cpu`, in the order it published them.
    void push(unsigned cpu, std::span<const abi::Record> records);

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
        std::vector<abi::Record> records;
        std::size_t next = 0;   ///< the first one that has not left
        std::size_t old = 0;    ///< end of those pushed in earlier passes
        std::uint64_t left = 0; ///< time of the last one that left
        std::uint64_t bound = 0;
        bool idle = false;
    };

    static std::uint64_t time_of(const Queue& queue);
    Queue* choose();
    bool blocked(const Queue& candidate, std::uint64_t time) const;
    bool may_leave(const Queue& queue, std::uint64_t time) const;
    static void take(Queue& queue, std::vector<abi::Record>& out);

    std::vector<Queue> queues_;
};

} // namespace mmioscope::trace
