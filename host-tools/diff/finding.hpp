// A difference between boots, as people are told of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// How much can be said.
enum class Tier {
    sure,      ///< done in one and not in the other
    less_sure, ///< in another order, another number of times, or as the device gave other values:
               ///< timing may do that, too
};

/// "sure" or "less sure".
inline const char* tier_text(Tier tier) {
    return tier == Tier::sure ? "sure" : "less sure";
}

/// One of the two that are compared, as far as the finding goes.
struct Side {
    std::vector<std::string> lines; ///< what it did; empty: nothing
    std::uint64_t count = 0;        ///< accesses
    std::uint64_t event = 0;        ///< number of the first one's event (print --at); 0: none
};

struct Finding {
    Tier tier = Tier::sure;
    std::string kind; ///< one word: missing, extra, changed ...
    std::string device;
    std::string reg;        ///< several are separated by ", "
    std::string function;   ///< likewise
    std::string difference; ///< in words
    Side a, b;
};

} // namespace mmioscope::diff
