// A load-exclusive that a CPU executes again and again, and no store-exclusive traps in between.
//
// A CPU whose monitor does not outlive a trap, and is asked before the address of a store-exclusive
// is translated (A8.8.212 allows either order), fails each store of such a loop without a trap: the
// loop has no end. A loop that only waits, by load-exclusives, is legal and looks the same. So it
// is told of, and left alone.
#pragma once

#include "base/address.hpp"

namespace mmioscope {

class RepeatedLoad {
public:
    /// In a row: then it is told of, and again after as many more.
    static constexpr std::uint32_t row = 65'536;

    bool running() const { return times_ != 0; }

    /// The load at `pc` of `pa` was executed. True where it is to be told of.
    bool count(std::uint32_t pc, PhysicalAddress pa) {
        if (pc != pc_ || pa != pa_) end();
        pc_ = pc;
        pa_ = pa;
        if (++times_ < row) return false;
        end();
        return true;
    }

    void end() { times_ = 0; }

private:
    std::uint32_t pc_{};
    PhysicalAddress pa_{};
    std::uint32_t times_{};
};

} // namespace mmioscope
