#include "analysis/repeats.hpp"

#include "reading/kept.hpp"

#include <algorithm>

namespace mmioscope::analysis {

namespace {

// Never 0, which means no access.
std::uint64_t site_of(const abi::Record& record) {
    return reading::mixed(place_of(record) ^ reading::mixed(record.pc)) | 1;
}

} // namespace

std::uint64_t place_of(const abi::Record& record) {
    constexpr unsigned parts = abi::access_write | abi::access_size_mask << abi::access_size_shift;
    return abi::physical_address(record) << 8 | (record.access & parts);
}

void Repeats::add(const Event& event) {
    const std::uint64_t site = site_of(event.record);
    for (std::size_t i = 0; i < most_period; ++i) {
        repeated_[i] = sites_[i] == site ? repeated_[i] + 1 : 0;
    }
    std::copy_backward(sites_.begin(), sites_.end() - 1, sites_.end());
    sites_.front() = site;
    if (events_.size() < kept) {
        newest_ = events_.size();
        if (newest_ == events_.capacity()) { // by itself it would take room for twice as many
            events_.reserve(std::min(kept, 2 * newest_ + 2));
        }
        events_.push_back(event);
    } else {
        newest_ = newest_ + 1 == kept ? 0 : newest_ + 1;
        events_[newest_] = event;
    }
}

void Repeats::clear() {
    sites_.fill(0);
    repeated_.fill(0);
    events_.clear();
}

unsigned Repeats::period() const {
    for (unsigned period = 1; period <= most_period; ++period) {
        if (repeated_[period - 1] > period) {
            return period;
        }
    }
    return 0;
}

} // namespace mmioscope::analysis
