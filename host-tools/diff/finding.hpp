// A difference between boots, as it is reported.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::diff {

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

} // namespace mmioscope::diff
