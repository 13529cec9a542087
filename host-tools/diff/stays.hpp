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

/// Where one thread is. Sites::none: nowhere.
struct Stay {
    std::uint16_t device = 0;
    std::uint32_t site = Sites::none;   ///< of the last access
    std::uint32_t before = Sites::none; ///< of the last one to another device
    std::uint32_t wrote = Sites::none;  ///< of the last write

    /// Adds an access at `at`. Returns the site of the last access to another device.
    std::uint32_t next(const abi::Record& record, std::uint32_t at) {
        if (device != record.device) {
            before = site;
            device = record.device;
        }
        if (abi::is_write(record)) {
            wrote = at;
        }
        site = at;
        return before;
    }
};

class Stays {
public:
    /// Valid until the next call.
    Stay& of(analysis::Thread thread) {
        if (last_ == nullptr || thread != last_thread_) {
            find(thread);
        }
        return *last_;
    }

private:
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    void find(analysis::Thread thread) {
        if (stays_.size() == most) {
            stays_.clear();
        }
        last_ = &stays_[thread];
        last_thread_ = thread;
    }

    std::unordered_map<analysis::Thread, Stay> stays_;
    Stay* last_ = nullptr; ///< of last_thread_; null: there was none
    analysis::Thread last_thread_ = 0;
};

} // namespace mmioscope::diff
