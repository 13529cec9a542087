// Counts equal reads instead of sending them (abi/fold.hpp).
#pragma once

#include "abi/fold.hpp"

namespace mmioscope {

class Folder {
public:
    void start(abi::Fold how, unsigned time_shift) {
        how_ = how;
        shift_ = time_shift;
    }

    /// A frame begins: nothing is in front of its first record.
    void forget();

    bool folds() const { return how_ != abi::Fold::off; }
    /// True: `record` is counted. Else what was counted goes first, then `record`: sent().
    bool add(const abi::Record& record);
    void sent(const abi::Record& record) { base_ = record; }

    std::uint32_t counted() const { return count_; }
    /// What was counted, as a record; nothing is counted now.
    abi::Record take();

private:
    std::uint64_t units(std::uint64_t ticks) const { return ticks >> shift_; }

    abi::Fold how_{abi::Fold::off};
    unsigned shift_{};
    abi::Record base_{}; ///< the record in front of those that are counted
    abi::Record last_{}; ///< counted last
    std::uint32_t count_{};
    std::uint64_t step_{}; ///< units, from base_ to the first that was counted
    bool exact_{};         ///< all steps are step_, and all durations the same
};

} // namespace mmioscope
