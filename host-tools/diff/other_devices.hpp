// Where a thread had been before it came to a device: the driver that it works for. And where it
// wrote last.
#pragma once

#include "abi/record.hpp"
#include "analysis/threads.hpp"
#include "diff/sites.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace mmioscope::diff {

class OtherDevices {
public:
    /// Adds an access of `thread` at `site`. Returns the site of its last access to another device;
    /// Sites::none: there is none.
    std::uint32_t next(analysis::Thread thread, const abi::Record& record, std::uint32_t site);
    /// The site of the last access of `thread`; Sites::none: there is none.
    std::uint32_t current(analysis::Thread thread) { return stay_of(thread).site; }
    /// The site of the last write of `thread`; Sites::none: there is none.
    std::uint32_t last_write(analysis::Thread thread) { return stay_of(thread).wrote; }

private:
    struct Stay {
        std::uint16_t device = 0;
        std::uint32_t site = Sites::none;   ///< of the last access
        std::uint32_t before = Sites::none; ///< of the last one to another device
        std::uint32_t wrote = Sites::none;  ///< of the last write
    };

    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    Stay& stay_of(analysis::Thread thread);

    std::unordered_map<analysis::Thread, Stay> stays_;
    Stay* last_ = nullptr; ///< of last_thread_; null: there was none
    analysis::Thread last_thread_ = 0;
};

} // namespace mmioscope::diff
