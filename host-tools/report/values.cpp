#include "report/values.hpp"

#include "abi/record.hpp"
#include "registers/fields_text.hpp"

#include <algorithm>

namespace mmioscope::report {

void Seen::add(const Seen& next) {
    end = std::max(end, next.end);
    least = std::min(least, next.least);
    most = std::max(most, next.most);
    ones |= next.ones;
    zeros |= next.zeros;
    last = next.last;
    reads += next.reads;
    writes += next.writes;
}

Values::Series* Values::of(const Event& event) {
    const Key key(event.record.device, event.offset(),
                  event.reg() == nullptr ? std::string_view() : event.reg()->name);
    const auto at = series_.find(key);
    if (at != series_.end()) {
        return &at->second;
    }
    if (series_.size() == most_registers) {
        ++left_out_;
        return nullptr;
    }
    Series& series = series_[key];
    room_.share(series.buckets);
    series.device = event.device();
    series.reg = event.reg();
    series.name = registers::register_text(event.reg(), event.offset());
    return &series;
}

void Values::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access || (record.flags & abi::flag_value_unknown) != 0 ||
        (event.reg() != nullptr && event.reg()->offset != event.offset())) {
        return;
    }
    Series* const series = of(event);
    if (series == nullptr) {
        return;
    }
    const bool writes = abi::is_write(record);
    const std::uint64_t bits =
        record.value | (abi::access_size(record) > 4 ? ~0ull : 0xffffffffull);
    const Seen one{event.nanoseconds, event.nanoseconds, event.number,         record.value,
                   record.value,      record.value,      ~record.value & bits, record.value,
                   writes ? 0u : 1u,  writes ? 1u : 0u};
    // A value that stays takes no more room, however often it is read.
    Seen* const last = series->buckets.last();
    if (last != nullptr && last->least == one.least && last->most == one.most) {
        last->add(one);
    } else {
        room_.add(series->buckets, one);
    }
}

} // namespace mmioscope::report
