#include "analysis/register_rules.hpp"

namespace mmioscope::analysis {

std::string_view name_of(Rule rule) {
    static constexpr std::string_view names[rule_count] = {
        "last read",     "last written",  "cleared",       "clock",         "recalled",
        "recalled 2",    "recalled own",  "own",           "step by data",  "step by 3",
        "by data",       "by 3 data",     "by write",      "by 2 writes",   "by 4 writes",
        "alone",         "by access",     "by 2 accesses", "by 3 accesses", "by 5 accesses",
        "by 8 accesses", "by 12 accesses"};
    return names[index_of(rule)];
}

} // namespace mmioscope::analysis
