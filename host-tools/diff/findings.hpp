// Changes as findings: one for each cause, in words.
#pragma once

#include "diff/alike.hpp"
#include "diff/boot.hpp"
#include "diff/changes.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::diff {

// A difference between boots, as it is reported.

/// How certain it is that the boots differ for a reason other than timing.
enum class Tier {
    sure,      ///< one boot does it, the other does not
    less_sure, ///< a different order or number of times, or the device gave different values:
               ///< timing can cause that
};

/// "sure" or "less sure".
inline const char* tier_text(Tier tier) {
    return tier == Tier::sure ? "sure" : "less sure";
}

/// What one of the two sides did.
struct Side {
    std::vector<std::string> lines; ///< in words; empty: nothing
    std::uint64_t count = 0;        ///< accesses
    std::uint64_t event = 0;        ///< event number of the first access (print --at); 0: none
};

struct Finding {
    Tier tier = Tier::sure;
    std::string kind; ///< one word: missing, extra, changed ...
    std::string device;
    std::string reg;        ///< several names are separated by ", "
    std::string function;   ///< likewise
    std::string difference; ///< in words
    Side a, b;
};

/// What follows from a driver's stop: in one finding (with_stops()), or each on its own.
enum class Stops { together, apart };

/// Sure ones first, then in the order in which the boots did them, because the first may have
/// caused the rest. `sites` describes the registers.
std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites,
                              Stops stops = Stops::together);

// Findings as a table, for people and for programs, and as a page of HTML.

table::Table table_of(std::span<const Finding> findings);

/// The compared boots.
struct Heading {
    std::vector<std::string> a;     ///< files
    std::string b;                  ///< likewise
    std::vector<std::string> notes; ///< lines above the findings
    std::string verdict = {};       ///< the conclusion; empty: verdict() of the findings
};

/// The number of sure findings.
std::size_t count_sure(std::span<const Finding> findings);

/// Lines about the comparison as a whole: what was not compared.
std::vector<std::string> notes(const Alike& alike, std::span<const Boot> boots);

/// "same: ..." or "different: 2 sure, 1 less sure".
std::string verdict(std::span<const Finding> findings);

/// A page that needs no other file: A on the left, B on the right.
std::string html(std::span<const Finding> findings, const Heading& heading);

} // namespace mmioscope::diff
