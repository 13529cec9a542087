#include "view/top_counts.hpp"

#include "records/losses.hpp"

namespace mmioscope::view {

TopCounts::TopCounts() : counts_(analysis::all_keys()), seen_(1) {}

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
    const double seconds = static_cast<double>(head.nanoseconds - looked_) / 1e9;
    const auto came = static_cast<double>(head.events - events_);
    head.per_second = seconds > 0 ? came / seconds : 0;
    looked_ = head.nanoseconds;
    events_ = head.events;
    for (const analysis::Key key : counts_.keys()) {
        Table& table = tables_[key];
        table.rows = table.rates.look(counts_.by(key).held(), seconds);
    }
}

void TopCounts::look_at_all() {
    looked_ = events_ = 0;
    tables_.clear();
    look();
}

// What is cut or damaged may say nothing of it.
void TopCounts::finish_with(const trace::TraceReader& reader) {
    if (reader.sound()) {
        head.lost = trace::sum_of(reader.losses());
    }
}

std::span<const analysis::Rate> TopCounts::rates(analysis::Key key) const {
    const auto table = tables_.find(key);
    return table != tables_.end() ? std::span(table->second.rows)
                                  : std::span<const analysis::Rate>();
}

} // namespace mmioscope::view
