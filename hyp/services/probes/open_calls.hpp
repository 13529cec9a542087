// Calls in progress that have a record, of functions some of whose calls have none: which of their
// returns has one.
//
// A stack is in use by one CPU at a time, so only that one cares about what is known of it. If
// there is no room, the return has no record, and the call says so.
#pragma once

#include "port/shared.hpp"

#include <cstdint>

namespace mmioscope {

class OpenCalls {
public:
    /// A call of function `of`, whose return is to have a record or not. Whether it will have one.
    bool put(std::uint32_t sp, std::uint32_t lr, std::uint32_t of, bool wanted) {
        Call& call = at(sp);
        if (!wanted) { // if the last one there was, that one has never returned
            if (call.of == of) end(sp, lr);
            return false;
        }
        constexpr unsigned most_turns = 100; // a store-exclusive may fail for no reason
        for (unsigned turn = 0; turn < most_turns; ++turn) {
            const std::uint32_t there = port::load_shared(call.sp);
            if (there != 0 && there != sp) return false;
            if (there == 0 && !port::exchange_if(call.sp, 0, sp)) continue;
            call.lr = lr;
            call.of = of;
            return true;
        }
        return false;
    }
    /// Whether the return with these has a record.
    bool has(std::uint32_t sp, std::uint32_t lr) {
        const Call& call = at(sp);
        return port::load_shared(call.sp) == sp && call.lr == lr;
    }
    /// It has returned.
    void end(std::uint32_t sp, std::uint32_t lr) {
        if (has(sp, lr)) port::store_shared(at(sp).sp, 0);
    }

private:
    struct Call {
        std::uint32_t sp; ///< 0: free
        std::uint32_t lr, of;
    };
    static constexpr std::uint32_t most = 1024;

    Call& at(std::uint32_t sp) { return calls_[(sp >> 3 ^ sp >> 13) % most]; }

    Call calls_[most]{};
};

} // namespace mmioscope
