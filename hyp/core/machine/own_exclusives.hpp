// When Hyp's own LDREX and STREX have to wait. A CPU has one local monitor: if Hyp uses exclusives
// after a load-exclusive of the guest, it destroys the state that the load has set (ARM ARM
// A3.4.1). On a CPU that checks the monitor before it translates a store's address (A8.8.212), the
// guest's store-exclusive then fails without a trap, each time.
//
// So after a load-exclusive, work that can wait is left out of the trap. It must not wait for ever:
// a guest may wait for a device by load-exclusives alone, and the stream has to go on. After some
// load-exclusives in a row the work is done, and costs one store-exclusive that fails. Their number
// varies, because a loop may have exactly as many itself.
#pragma once

#include <cstdint>

namespace mmioscope {

class OwnExclusives {
public:
    static constexpr std::uint32_t fewest = 16; ///< load-exclusives in a row
    static constexpr std::uint32_t most = 31;

    /// The guest executed a load-exclusive, and this trap is the one after it. `time`: any number
    /// that varies.
    void guest_reserved(std::uint64_t time) {
        reserved_ = true;
        if (left_ == 0) left_ = fewest + static_cast<std::uint32_t>(time) % (most - fewest + 1);
    }

    /// The guest's store-exclusive has come, without that state.
    void guest_done() { reserved_ = false; }

    /// Called once at the end of each trap: whether Hyp may use exclusives of its own now.
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
    std::uint32_t left_{}; ///< until they are allowed; 0: no row has begun
};

} // namespace mmioscope
