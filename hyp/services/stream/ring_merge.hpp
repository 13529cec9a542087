// Takes the records of all rings in the order of time, as the second of their readers
// (abi::drain_reader).
//
// A record leaves when no CPU can still publish an earlier one. The in-flight slot of a CPU, read
// before its head, says what the CPU can still publish (abi/ring.hpp). If nothing is in flight, its
// next record will be later than now. If an access has begun, its next record has the slot's time.
// The records of a group (abi/payload.hpp) leave one behind the other, whatever comes meanwhile.
// A CPU that is about to begin, or that does not return from a device, holds later records of other
// CPUs back for `patience`. After that its record arrives late, as its time shows.
#pragma once

#include "abi/ring.hpp"
#include "abi/wire.hpp"

#include <optional>

namespace mmioscope {

class RingMerge {
public:
    /// Reads the rings of `area`, whose header is complete. From now on they wait for this reader.
    void start(abi::AreaHeader& area);

    /// Reads the rings of `area`, which nobody writes any more. Does not report its position, and
    /// leaves out incomplete records.
    void start_kept(const abi::AreaHeader& area);

    /// Gets the next record, if its place in the order is known. Without `may_look` it uses what
    /// the last call saw, which avoids most of the work.
    bool next(abi::Record& out, bool may_look = true);

    /// From now on waits for no CPU, and takes only the records that the rings hold now.
    void close();

    /// After close(): takes later records again.
    void reopen();

    /// Whether a CPU other than `cpu` is in an access, so that its record is still to come.
    bool others_in_access(std::uint32_t cpu) const;

    /// The access that `cpu` has begun; nothing if it is in none, or has just ended one.
    std::optional<abi::UnfinishedAccess> unfinished(unsigned cpu) const;

    /// Whether all published records were taken.
    bool empty() const;

    unsigned cpus() const { return count_; }
    const abi::RingHeader& header(unsigned cpu) const { return *rings_[cpu].header; }

    /// cpu_sequence after the last record of `cpu`, when close() was called.
    std::uint32_t next_sequence(unsigned cpu) const { return rings_[cpu].next_sequence; }
    /// How many of those up to it were no accesses.
    std::uint32_t others(unsigned cpu) const { return rings_[cpu].others; }

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
        std::uint32_t others;
    };

    bool before(const Ring& a, const Ring& b) const;
    bool is_certain(const Ring* first, std::uint64_t bound) const;
    /// Whether look() has seen a record there that was not taken yet.
    bool is_known(const Ring& ring) const { return ring.tail < ring.head && !flight_; }
    void forget_bounds();
    bool look(Ring& ring) const;
    bool look_at_all(Ring*& first);
    static std::uint64_t begun_at(const Ring& ring, abi::InFlight mark);
    static std::uint64_t published(const Ring& ring);
    std::uint64_t earliest_to_come(const Ring& ring) const;
    static bool overwritten(const Ring& ring);
    void skip_overwritten(Ring& ring) const;
    void start_ring(unsigned cpu, const abi::RingHeader& header);
    bool take(Ring& ring, abi::Record& out);
    bool take_piece(abi::Record& out);

    Ring rings_[abi::max_cpus]{};
    unsigned count_{};
    Ring* group_{};            ///< whose last record taken has a payload that goes on; else null
    std::uint64_t patience_{}; ///< ticks
    bool flight_{};            ///< the writers do not wait: they may overtake
    bool closed_{};
};

} // namespace mmioscope
