// A loop in the guest's code: a sequence of accesses that repeats.
#pragma once

#include "mmioscope/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

// Whether the newest accesses of a thread repeat earlier ones, for each period.

/// The register, direction and size of an access.
std::uint64_t place_of(const abi::Record& record);

class Repeats {
public:
    static constexpr unsigned most_period = 16; ///< accesses

    /// Adds the thread's next access.
    void add(const Event& event);
    /// Forgets all accesses: what follows is a new sequence.
    void clear();

    /// The shortest period of which the newest accesses are more than two iterations; 0: none.
    unsigned period() const { return comes_again() ? shortest_period() : 0; }
    /// Whether the newest access has the same code, register and kind as the one `period` before.
    bool goes_on(unsigned period) const { return sites_[site_] == sites_[site_ - period]; }

    /// The access `count` before the newest, up to 2 * most_period. It exists if period() implies
    /// it.
    const Event& back(unsigned count) const { return events_[(newest_ + kept - count) % kept]; }

private:
    /// Whether the newest is one of the most_period before: seldom. Compilers use vectors for it.
    bool comes_again() const {
        const std::uint32_t* const newest = &sites_[site_];
        std::uint32_t any = 0;
        for (unsigned back = 1; back <= most_period; ++back) {
            any |= newest[-static_cast<int>(back)] == *newest ? ~0u : 0u;
        }
        return any != 0;
    }
    unsigned shortest_period() const;

    static constexpr std::size_t kept = 2 * most_period + 1;

    /// Of the newest accesses, the newest last; 0: none. Moves to the front when it is full.
    std::array<std::uint32_t, 3 * kept> sites_{};
    std::size_t site_ = kept - 1; ///< the newest one
    std::vector<Event> events_;   ///< a ring; grows to `kept`
    std::size_t newest_ = 0;
};

/// What a loop reads from one register, or writes at one place.
struct Watch {
    Event newest; ///< the newest access
    std::uint64_t accesses = 0;
    bool known = true;         ///< all values are known
    std::uint64_t before = 0;  ///< the value of the access before the newest
    std::uint64_t changed = 0; ///< bits that changed before the newest access
    // Numbers of accesses before the newest: with the same value as the access before, a larger or
    // a smaller one.
    std::uint64_t same = 0, more = 0, less = 0;

    void add(const Event& event);
    /// Bits that changed with the newest access.
    std::uint64_t last_change() const { return newest.record.value ^ before; }
    /// The value changed more often than it stayed the same.
    bool varies() const { return more + less > same; }
};

class Loop {
public:
    explicit Loop(unsigned period) : period_(period) {}

    /// Adds the loop's next access.
    void add(const Event& event);

    unsigned period() const { return period_; } ///< accesses
    std::uint64_t accesses() const { return accesses_; }
    const Event& first() const { return first_; }
    const Event& last() const { return watches_[last_].newest; }
    /// In the order of their newest accesses.
    std::vector<Watch> watches() const;

private:
    unsigned watch_of(const Event& event);

    unsigned period_;
    std::uint64_t accesses_ = 0;
    Event first_;
    std::vector<Watch> watches_;
    std::uint8_t last_ = 0; ///< index in watches_ of the newest access
    std::array<std::uint8_t, Repeats::most_period> by_position_{}; ///< index in watches_
};

// Assigns accesses to threads: a thread is an interrupt on one CPU, or a stack.

/// The number of a thread.
using Thread = std::uint32_t;

class Threads {
public:
    /// `record` reads or writes an interrupt number at the GIC's CPU interface. From the read to
    /// the write, this CPU handles that interrupt. Returns whether it begins to.
    bool follow(const abi::Record& record);

    /// The thread of the next event. The accesses with which a CPU begins and ends an interrupt are
    /// that interrupt's.
    Thread with(const Event& event);
    /// The thread that made the access. A task is the same thread on every CPU.
    Thread of(const abi::Record& record) const;
    /// Whether it is an interrupt on a CPU.
    static bool is_interrupt(Thread thread) { return (thread & interrupt) != 0; }

private:
    static constexpr Thread interrupt = Thread{1} << 31;
    /// Limit; deeper nested interrupts are forgotten.
    static constexpr std::size_t most_nested = 16;

    std::array<std::vector<std::uint16_t>, 256> interrupts_; ///< by CPU: those that it handles
};

} // namespace mmioscope::analysis
