// Counts executions of one load-exclusive without a store-exclusive that stores.
//
// If Hyp cannot follow the guest to its store-exclusive (trap/stretch.hpp), the loop goes on as the
// CPU's monitor decides. If that does not survive a trap, each store fails, with or without a trap,
// and the loop never ends. A loop that only waits, by load-exclusives, is legal and looks the same.
// So Hyp only reports it.
//
// An access of the code that has executed it ends the row, so the fast path is closed meanwhile.
// But the code may never come back. So behind each execution a bounded number of other code's
// accesses is looked at; then the row waits for the next one.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

class RepeatedLoad {
public:
    /// Executions in a row until a report, and between reports.
    static constexpr std::uint32_t row = 65'536;
    /// Accesses of other code that are looked at behind each execution.
    static constexpr std::uint32_t others = 64;

    /// Whether the next access is looked at, since it may end the row.
    bool watches() const { return times_ != 0 && left_ != 0; }

    /// The load-exclusive at `pc` of address `pa` was executed. True if it is time for a report.
    bool count(std::uint32_t pc, PhysicalAddress pa) {
        if (pc != pc_ || pa != pa_) end();
        pc_ = pc;
        pa_ = pa;
        left_ = others;
        if (++times_ < row) return false;
        end();
        return true;
    }

    /// An access of other code.
    void pass() { --left_; }
    void end() { times_ = 0; }

private:
    std::uint32_t pc_{};
    PhysicalAddress pa_{};
    std::uint32_t times_{};
    std::uint32_t left_{}; ///< of `others`
};

} // namespace mmioscope
