#include "left_out.hpp"

#include <algorithm>

namespace mmioscope::guest {

void LeftOut::apply(std::vector<abi::Record>& records) {
    if (regions_.empty()) {
        return;
    }
    auto kept = records.begin();
    for (abi::Record& record : records) {
        std::uint32_t& left_out = of_cpu_[record.cpu % abi::max_cpus];
        if (std::find(regions_.begin(), regions_.end(), record.device) != regions_.end()) {
            ++left_out;
            ++count_;
            continue;
        }
        record.cpu_sequence -= left_out;
        *kept++ = record;
    }
    records.erase(kept, records.end());
}

} // namespace mmioscope::guest
