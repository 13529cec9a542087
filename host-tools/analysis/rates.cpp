#include "analysis/rates.hpp"

#include <algorithm>

namespace mmioscope::analysis {

std::vector<Rate> Rates::look(const NamedCounts& counts, double seconds) {
    std::vector<Rate> rates;
    for (const auto& [name, count] : counts) {
        std::uint64_t& before = before_[name];
        const auto came = static_cast<double>(count.accesses() - before);
        rates.push_back({name, count, seconds > 0 ? came / seconds : 0});
        before = count.accesses();
    }
    std::stable_sort(rates.begin(), rates.end(), [](const Rate& a, const Rate& b) {
        return a.per_second != b.per_second ? a.per_second > b.per_second
                                            : a.count.accesses() > b.count.accesses();
    });
    return rates;
}

} // namespace mmioscope::analysis
