#include "analysis/durations.hpp"

namespace mmioscope::analysis {

void Durations::add(const Event& event) {
    if (event.record.type != abi::RecordType::access) {
        return;
    }
    for (const Key key : keys_) {
        if (key == Key::interrupt && event.interrupt_id() == no_id) {
            continue;
        }
        set_name(name_, event, key);
        tables_[key][name_].add(event.record.duration);
        all_[key].add(event.record.duration);
    }
}

} // namespace mmioscope::analysis
