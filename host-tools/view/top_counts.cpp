#include "view/top_counts.hpp"

#include "lib/lost.hpp"

namespace mmioscope::view {

TopCounts::TopCounts() : seen_(1) {
    for (const analysis::Key key : analysis::all_keys()) {
        rates_.emplace_back(key);
    }
}

void TopCounts::add(const Event& event) {
    head.nanoseconds = event.nanoseconds;
    head.events += event.record.type == abi::RecordType::access ? 1 : 0;
    if (numbers_tell) {
        seen_.add(event.record);
        head.lost = seen_.lost();
    } else if (event.record.type == abi::RecordType::gap) {
        head.lost = trace::add_lost(head.lost, event.record.value);
    }
    for (analysis::Rates& rates : rates_) {
        rates.add(event);
    }
}

void TopCounts::look() {
    const double seconds = static_cast<double>(head.nanoseconds - looked_) / 1e9;
    const auto came = static_cast<double>(head.events - events_);
    head.per_second = seconds > 0 ? came / seconds : 0;
    looked_ = head.nanoseconds;
    events_ = head.events;
    tables_.clear();
    for (analysis::Rates& rates : rates_) {
        tables_.push_back(rates.look(seconds));
    }
}

// What is cut or damaged may say nothing of it.
void TopCounts::finish_with(const trace::TraceReader& reader) {
    if (reader.sound()) {
        head.lost = trace::sum_of(reader.losses());
    }
}

std::vector<std::string> TopCounts::screen(analysis::Key key, std::size_t rows,
                                           std::size_t columns) const {
    static const std::vector<analysis::Rate> none;
    const auto index = static_cast<std::size_t>(key);
    return top_screen(head, key, index < tables_.size() ? tables_[index] : none, rows, columns);
}

} // namespace mmioscope::view
