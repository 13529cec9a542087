// Counts equal reads, so that the stream need not send each of them (abi/fold.hpp).
#pragma once

#include "abi/fold.hpp"

namespace mmioscope {

class Folder {
public:
    void start(abi::Fold how, unsigned time_shift) {
        how_ = how;
        shift_ = time_shift;
    }

    /// A frame begins: its first record repeats nothing.
    void forget();

    bool folds() const { return how_ != abi::Fold::off; }
    /// True: `record` is counted. False: send what was counted, take(), then `record`, and call
    /// sent().
    bool add(const abi::Record& record);
    void sent(const abi::Record& record) { base_ = record; }

    std::uint32_t counted() const { return count_; }
    /// The counted reads as a fold record; the count is 0 afterwards.
    abi::Record take();

private:
    std::uint64_t units(std::uint64_t ticks) const { return ticks >> shift_; }

    abi::Fold how_{abi::Fold::off};
    unsigned shift_{};
    abi::Record base_{}; ///< the record before the counted ones
    abi::Record last_{}; ///< the last one counted
    std::uint32_t count_{};
    std::uint64_t step_{}; ///< from base_ to the first counted one, in units of the stream
    bool exact_{};         ///< all steps equal step_, and all durations are equal
};

} // namespace mmioscope
