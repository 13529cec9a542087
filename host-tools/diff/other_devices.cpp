#include "diff/other_devices.hpp"

namespace mmioscope::diff {

std::uint32_t OtherDevices::next(analysis::Thread thread, std::uint16_t device,
                                 std::uint32_t site) {
    Stay& stay = stay_of(thread);
    if (stay.device != device) {
        stay.before = stay.site;
        stay.device = device;
    }
    stay.site = site;
    return stay.before;
}

OtherDevices::Stay& OtherDevices::stay_of(analysis::Thread thread) {
    if (last_ != nullptr && thread == last_thread_) {
        return *last_;
    }
    if (stays_.size() == most) {
        stays_.clear();
    }
    last_ = &stays_[thread];
    last_thread_ = thread;
    return *last_;
}

} // namespace mmioscope::diff
