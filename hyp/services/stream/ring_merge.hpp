// Takes the records of all rings in the order of time, as the second of their readers
// (abi::drain_reader).
//
// A record leaves when no CPU can still publish an earlier one. What a CPU can still publish
// follows from its in-flight slot, read before its head (abi/ring.hpp): nothing is in flight, then
// what it begins from now on is later than now; begun, then the next record has the slot's time. A
// CPU that is about to begin, or that does not come back from a device, keeps what is later than
// it: for `patience`, then its record will come late, and says so by its time.
#pragma once

#include "abi/ring.hpp"

namespace mmioscope {

class RingMerge {
public:
    /// The rings of `area`, whose header is complete. They wait for this reader from now on.
    void start(abi::AreaHeader& area);

    /// The rings of `area`, which nobody writes any more nor is told of: what they hold is all
    /// there is, and records that are not whole are left out.
    void start_kept(const abi::AreaHeader& area);

    /// The next record, if there is one whose place is known. `may_look`: else what the last call
    /// has seen must do, which spares most of the work.
    bool next(abi::Record& out, bool may_look = true);

    /// From now on nothing is waited for, and nothing taken that is published later: what the
    /// rings hold now is the rest.
    void close();

    /// After close(): more is taken, as before it.
    void reopen();

    /// Another CPU than `cpu` is in an access, whose record is still to come.
    bool others_in_access(std::uint32_t cpu) const;

    /// Nothing that was published is left.
    bool empty() const;

    /// cpu_sequence behind the last record of `cpu`, when close() was called.
    std::uint32_t next_sequence(unsigned cpu) const { return rings_[cpu].next_sequence; }

private:
    struct Ring {
        const abi::RingHeader* header;
        const abi::Record* slots;
        abi::Reader* reader; ///< null: nobody waits for this one
        std::uint32_t capacity;
        std::uint32_t slot; ///< tail % capacity, without the division
        std::uint32_t boot_number;
        std::uint64_t tail; ///< position of the next record to take
        std::uint64_t head; ///< as it was last read
        std::uint64_t end;  ///< nothing from here on is taken
        std::uint64_t time; ///< of the next record, if there is one; else nothing earlier will come
        std::uint32_t next_sequence;
    };

    static bool before(const Ring& a, const Ring& b);
    /// look() has seen that it has a record, which is still there.
    bool is_known(const Ring& ring) const { return ring.tail < ring.head && !flight_; }
    void forget_bounds();
    bool look(Ring& ring) const;
    bool look_at_all(Ring*& first);
    std::uint64_t earliest_to_come(const Ring& ring) const;
    static bool overwritten(const Ring& ring);
    void skip_overwritten(Ring& ring) const;
    void start_ring(unsigned cpu, const abi::RingHeader& header);
    bool take(Ring& ring, abi::Record& out);

    Ring rings_[abi::max_cpus]{};
    unsigned count_{};
    std::uint64_t patience_{}; ///< ticks
    bool flight_{};            ///< the writers do not wait: they may overtake
    bool closed_{};
};

} // namespace mmioscope
