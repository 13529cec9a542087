#include "analysis/register_state.hpp"

#include <fmt/format.h>

namespace mmioscope::analysis {

// From behind: only the last access of a register needs its names.
void RegisterState::add_all(std::span<const Event> events) {
    for (std::size_t at = events.size(); at-- > 0;) {
        keep(events[at]);
    }
}

void RegisterState::keep(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access) {
        return;
    }
    const Place place{record.device, abi::physical_address(record)};
    auto at = registers_.lower_bound(place);
    if (at == registers_.end() || at->first != place) {
        if (registers_.size() == most_) {
            ++left_out_;
            return;
        }
        at = registers_.emplace_hint(at, place, Register());
    }
    KeptAccess& kept = abi::is_write(record) ? at->second.written : at->second.read;
    if (kept.number() < event.number) {
        event.settle();
        kept.keep(event);
    }
}

void RegisterState::forget() {
    for (auto& [place, one] : registers_) {
        one.written.forget();
        one.read.forget();
    }
}

table::Table RegisterState::table() const {
    table::Table table{kept_columns(), {}};
    for (const auto& [place, one] : registers_) {
        const bool read_first = one.read.number() < one.written.number();
        for (const bool read : {read_first, !read_first}) {
            if (const KeptAccess& access = read ? one.read : one.written; !access.empty()) {
                table.rows.push_back(access.row(read ? "read" : "written"));
            }
        }
    }
    if (left_out_ > 0) {
        table.closing = fmt::format("... {} accesses to other registers are left out", left_out_);
    }
    return table;
}

} // namespace mmioscope::analysis
