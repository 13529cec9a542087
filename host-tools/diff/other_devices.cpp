#include "diff/other_devices.hpp"

namespace mmioscope::diff {

std::uint32_t OtherDevices::next(analysis::Thread thread, const abi::Record& record,
                                 std::uint32_t site) {
    Stay& stay = stay_of(thread);
    if (stay.device != record.device) {
        stay.before = stay.site;
        stay.device = record.device;
    }
    if (abi::is_write(record)) {
        stay.wrote = site;
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
