// What a hit of a probe does (abi/control.hpp, ProbeAction), and how it is counted if it makes no
// record.
#pragma once

#include "abi/control.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"

#include <algorithm>
#include <bit>

namespace mmioscope {

struct Condition {
    std::uint32_t what{}; ///< abi::control::condition_of()
    std::uint32_t mask{~0u};
    std::uint32_t value{};

    bool operator==(const Condition&) const = default;
    bool holds(const Frame& frame) const {
        using abi::control::ProbeRelation;
        const auto subject = what & 0xff;
        const std::uint32_t seen = (subject < 4 ? frame.r[subject] : guest_task(frame)) & mask;
        switch (static_cast<ProbeRelation>(what >> 8)) {
        case ProbeRelation::equal: return seen == value;
        case ProbeRelation::other: return seen != value;
        case ProbeRelation::below: return seen < value;
        default: return seen > value;
        }
    }
};

/// The hits of a probe on a CPU, modulo 2^32.
struct Tally {
    std::uint32_t met;    ///< the conditions, with a record or without
    std::uint32_t others; ///< did not meet them
};

struct Rule {
    abi::control::ProbeAction action{};
    std::uint32_t one_in{1}; ///< not 0
    std::uint32_t conditions{};
    Condition condition[abi::control::most_conditions]{};

    bool operator==(const Rule&) const = default;

    bool fires() const { return action >= abi::control::ProbeAction::start; }
    bool holds(const Frame& frame) const {
        return std::all_of(condition, condition + conditions,
                           [&](const Condition& c) { return c.holds(frame); });
    }
    /// Whether one makes a record that meets the conditions, after `met` others.
    bool records(std::uint32_t met) const {
        return action != abi::control::ProbeAction::count && (one_in == 1 || met % one_in == 0);
    }
    /// How many of `met` make none.
    std::uint32_t held(std::uint32_t met) const {
        if (action == abi::control::ProbeAction::count) return met;
        return met - met / one_in - (met % one_in != 0 ? 1 : 0);
    }

    // A `hits` record is written when a count is a power of two. So what all of them have told is
    // known, and needs no place.

    static constexpr std::uint32_t restarts = 1u << 31; ///< a count that goes on from 0
    static bool tells(std::uint32_t count) { return (count & (count - 1)) == 0; }
    /// Record::value for what none of them has told.
    std::uint64_t untold(const Tally& hits) const {
        return (held(hits.met) - held(std::bit_floor(hits.met))) |
               std::uint64_t{hits.others - std::bit_floor(hits.others)} << 32;
    }
};

} // namespace mmioscope
