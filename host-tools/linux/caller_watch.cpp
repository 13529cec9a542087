#include "linux/caller_watch.hpp"

#include <algorithm>

namespace mmioscope::linux_guest {

std::span<const trace::Caller> CallerWatch::see(std::span<const trace::Run> runs) {
    callers_.clear();
    finder_.look_anew();
    bool told = false;
    for (const trace::Run& run : runs) {
        const std::size_t at = callers_.size();
        callers_.resize(at + run.count, trace::lr_holds);
        if (run.first->type == abi::RecordType::task) {
            finder_.pass(*run.first);
        } else if (trace::in_kernel(*run.first)) {
            told |= see(run, callers_.data() + at);
        }
    }
    return told ? std::span<const trace::Caller>(callers_) : std::span<const trace::Caller>();
}

// False: LR holds for all.
bool CallerWatch::see(const trace::Run& run, trace::Caller* callers) {
    bool told = false;
    for (auto records = run.records(); !records.empty();) {
        const CallerFinder::Found found = finder_.find(records);
        if (found.caller && found.told_by_lr < found.count) {
            std::fill(callers + found.told_by_lr, callers + found.count, *found.caller);
            told = true;
        }
        callers += found.count;
        records = records.subspan(found.count);
    }
    return told;
}

} // namespace mmioscope::linux_guest
