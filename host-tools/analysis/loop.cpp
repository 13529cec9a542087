#include "analysis/loop.hpp"

#include <algorithm>

namespace mmioscope::analysis {

void Watch::add(const Event& event) {
    const std::uint64_t value = newest.record.value;
    if (accesses > 1) {
        changed |= last_change();
        ++(value == before ? same : value > before ? more : less);
    }
    before = accesses > 0 ? value : event.record.value;
    known = known && (event.record.flags & abi::flag_value_unknown) == 0;
    newest = event;
    ++accesses;
}

void Loop::add(const Event& event) {
    const std::size_t position = accesses_ % period_;
    if (accesses_ < period_) {
        by_position_[position] = static_cast<std::uint8_t>(watch_of(event));
    }
    last_ = by_position_[position];
    watches_[last_].add(event);
    if (accesses_++ == 0) {
        first_ = event;
    }
}

// All reads of a register count as one watch, because compilers unroll loops.
unsigned Loop::watch_of(const Event& event) {
    const auto found = std::find_if(watches_.begin(), watches_.end(), [&event](const Watch& one) {
        return !abi::is_write(event.record) &&
               place_of(one.newest.record) == place_of(event.record);
    });
    if (found != watches_.end()) {
        return static_cast<unsigned>(found - watches_.begin());
    }
    watches_.emplace_back().newest = event;
    return static_cast<unsigned>(watches_.size() - 1);
}

std::vector<Watch> Loop::watches() const {
    std::vector<Watch> all = watches_;
    std::ranges::sort(all, {}, [](const Watch& one) { return one.newest.number; });
    return all;
}

} // namespace mmioscope::analysis
