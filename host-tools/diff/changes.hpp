// The rules: what of one boot is not as in the good ones. docs/sameness.md explains them.
#pragma once

#include "diff/alike.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace mmioscope::diff {

/// A difference at a site that one or both sides have.
struct SiteChange {
    enum class Kind {
        missing, ///< all good boots have the site, the other has not
        extra,   ///< none has it, but the other
        values,  ///< both have it, with other values
        bits,    ///< bits of data were never that before
        answer,  ///< a read gave one value in all good boots, and another now
        back,    ///< a value that differs as what the register gave differs: read, and written back
    };
    Kind kind = Kind::values;
    std::uint32_t site = 0;
    std::vector<Use::Value> missing; ///< of A only
    std::vector<Use::Value> extra;   ///< of B only
    std::uint64_t ones = 0;          ///< bits that are 1 for the first time
    std::uint64_t zeros = 0;         ///< bits that are 0 for the first time
};

/// A write whose count differs from the one that all good boots agree on.
struct CountChange {
    Write write;
    std::uint64_t a = 0, b = 0;
};

/// What follows directly behind a write.
struct OrderChange {
    Write write;
    std::vector<Write> a; ///< only in A
    std::vector<Write> b; ///< only in B
};

/// Writes that some change tells of already.
struct Told {
    std::set<Write> writes;
    std::set<std::uint32_t> sites; ///< with all their writes

    bool has(const Write& write) const {
        return writes.contains(write) || sites.contains(write.site);
    }
};

struct Changes {
    std::vector<SiteChange> sites;
    std::vector<CountChange> counts;
    std::vector<OrderChange> orders;
};

/// The last boot against those in front of it, of which there is one at least.
Changes changes(const Alike& alike);

} // namespace mmioscope::diff
