#include "view/top_counts.hpp"

#include "records/losses.hpp"
#include "records/ticks.hpp"

namespace mmioscope::view {

void TopCounts::add(const Event& event) {
    head.nanoseconds = event.nanoseconds;
    head.events += event.record.type == abi::RecordType::access ? 1 : 0;
    if (numbers_tell) {
        seen_.add(event.record);
        head.lost = seen_.lost();
    } else if (event.record.type == abi::RecordType::gap) {
        head.lost = trace::add_lost(head.lost, event.record.value);
    }
    counts_.add(event);
}

void TopCounts::look() {
    const double seconds = static_cast<double>(trace::elapsed(looked_, head.nanoseconds)) / 1e9;
    const auto came = static_cast<double>(head.events - events_);
    head.per_second = seconds > 0 ? came / seconds : 0;
    looked_ = head.nanoseconds;
    events_ = head.events;
    for (const analysis::Key key : counts_.keys()) {
        rates_[key].look(key, counts_.by(key), seconds);
    }
    chosen_.reset();
}

void TopCounts::look_at_all() {
    look();
    const double seconds = static_cast<double>(head.nanoseconds) / 1e9;
    head.per_second = seconds > 0 ? static_cast<double>(head.events) / seconds : 0;
    for (auto& [key, rates] : rates_) {
        rates.look_at_all(seconds);
    }
}

// A cut or damaged trace may not know.
void TopCounts::finish_with(const trace::TraceReader& reader) {
    if (reader.sound()) {
        head.lost = trace::sum_of(reader.losses());
    }
}

const analysis::ShownRates& TopCounts::rates(const TopLook& look) {
    std::pair chosen(look.table(), look.choice());
    if (chosen_ != chosen) {
        chosen_ = std::move(chosen);
        shown_ = rates_[look.table()].shown(look.choice());
    }
    return shown_;
}

} // namespace mmioscope::view
