// Takes the records from one ring while a CPU writes to it.
#pragma once

#include "rings/area.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::rings {

/// What a CPU was doing at the moment of asking.
struct InFlightAccess {
    abi::InFlight state;
    std::uint32_t pc;
    std::uint64_t time; ///< CNTPCT; only if begun
    std::uint64_t pa;   ///< only if begun
};

class RingReader {
public:
    /// Reads `ring` as its reader `reader`: from where that one is waited for, else what is
    /// published from now on. With Policy::flight the writer does not wait for readers: what it has
    /// overwritten is left out, and shows as a hole in cpu_sequence.
    RingReader(const Ring& ring, abi::Policy policy, unsigned reader);

    /// The writer waits no longer for this reader.
    void leave();

    /// From now on, nothing is taken that is published later.
    void stop();
    /// After stop(): cpu_sequence behind the last record that is taken.
    std::uint32_t next_sequence() const { return next_sequence_; }

    /// Of the record in front of the first one that is read; 0 if there is none.
    std::uint64_t time_before() const { return time_before_; }

    /// To be asked before drain(): what was begun before this moment is then below the head.
    InFlightAccess in_flight() const;

    /// Appends all that is published to `out`, and gives its slots back to the writer.
    /// Returns how many records were damaged, that is, not the ones their slots should hold.
    std::uint64_t drain(std::vector<abi::Record>& out);

    std::uint64_t lost() const; ///< records the writer has lost so far

private:
    std::uint64_t load_head() const;
    void copy(std::uint64_t to, std::vector<abi::Record>& out) const;
    std::uint64_t drop_overtaken(std::vector<abi::Record>& out, std::size_t first) const;
    std::uint64_t drop_damaged(std::vector<abi::Record>& out, std::size_t first,
                               std::uint64_t position) const;

    Ring ring_;
    abi::Reader* reader_;
    bool overwrites_;
    std::uint64_t tail_;
    std::uint64_t time_before_ = 0;
    std::uint64_t end_ = ~std::uint64_t{0}; ///< nothing from here on is taken
    std::uint32_t next_sequence_ = 0;
};

} // namespace mmioscope::rings
