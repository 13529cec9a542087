// The rules: how one boot differs from the good ones. docs/sameness.md explains them.
#pragma once

#include "diff/alike.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace mmioscope::diff {

/// A difference at a site that one or both sides have.
struct SiteChange {
    enum class Kind {
        missing, ///< all good boots have the site, the other does not
        extra,   ///< only the other has it
        values,  ///< both have it, with other values
        bits,    ///< some bits of data have a value that they had in no good boot
        answer,  ///< reads gave one value in all good boots, and a different one now
        back,    ///< read and written back: the value differs as the value read differs
    };
    Kind kind = Kind::values;
    std::uint32_t site = 0;
    std::vector<Use::Value> missing; ///< only in A
    std::vector<Use::Value> extra;   ///< only in B
    std::uint64_t ones = 0;          ///< bits that are 1 for the first time
    std::uint64_t zeros = 0;         ///< bits that are 0 for the first time
};

/// A write that all good boots do equally often, and the other boot more or less often.
struct CountChange {
    Write write;
    std::uint64_t a = 0, b = 0;
};

/// A write that different writes follow directly.
struct OrderChange {
    Write write;
    std::vector<Write> a; ///< only in A
    std::vector<Write> b; ///< only in B
};

/// Bursts of data, to one register, of one length.
struct BurstChange {
    BurstKind kind;
    /// Words that were the same in all bursts of the good boots, and were another value at least
    /// once in the other; empty: only one side has bursts of this length.
    std::vector<std::size_t> words;
};

/// Writes that a change already reports.
struct Told {
    std::set<Write> writes;
    std::set<std::uint32_t> sites; ///< all writes of these

    bool has(const Write& write) const {
        return writes.contains(write) || sites.contains(write.site);
    }
};

struct Changes {
    std::vector<SiteChange> sites;
    std::vector<CountChange> counts;
    std::vector<OrderChange> orders;
    std::vector<BurstChange> bursts;
};

/// Compares the last boot with the good boots before it: at least one.
Changes changes(const Alike& alike);

// The rules for sites: sites that only one side has, and different values.

/// Adds the writes that the changes report to `told`.
std::vector<SiteChange> site_changes(const Alike& alike, Told& told);

} // namespace mmioscope::diff
