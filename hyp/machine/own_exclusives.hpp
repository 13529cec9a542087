// When Hyp's own LDREX and STREX have to wait. A CPU has one local monitor: an exclusive pair of
// Hyp's behind a load-exclusive of the guest's takes away what that has set (ARM ARM A3.4.1), and
// where the monitor is asked before a store's address is translated (A8.8.212) the guest's
// store-exclusive fails without a trap, each time.
//
// So a trap behind a load-exclusive ends without work that can wait. Not for ever: a guest may wait
// for a device by load-exclusives alone, and the stream is to go on. After some of them in a row
// the work is done, at the price of one store-exclusive that fails. After how many is not always
// the same, for a loop may have as many itself.
#pragma once

#include <cstdint>

namespace mmioscope {

class OwnExclusives {
public:
    static constexpr std::uint32_t fewest = 16; ///< in a row
    static constexpr std::uint32_t most = 31;

    /// The guest has executed a load-exclusive, and this trap is the one behind it. `time`: any
    /// number that differs from time to time.
    void guest_reserved(std::uint64_t time) {
        reserved_ = true;
        if (left_ == 0) left_ = fewest + static_cast<std::uint32_t>(time) % (most - fewest + 1);
    }

    /// At the end of a trap, once: may Hyp use exclusives of its own now?
    bool allowed() {
        if (reserved_ && --left_ != 0) {
            reserved_ = false;
            return false;
        }
        reserved_ = false;
        left_ = 0;
        return true;
    }

private:
    bool reserved_{};
    std::uint32_t left_{}; ///< of the row; 0: none has begun
};

} // namespace mmioscope
