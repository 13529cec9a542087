#include "analysis/register_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

// From behind, as RegisterState, which has room for the same registers then.
void LastAccesses::add_all(std::span<const Event> events) {
    for (std::size_t at = events.size(); at-- > 0;) {
        const Event& event = events[at];
        const abi::Record& record = event.record;
        if (record.type != abi::RecordType::access) {
            continue;
        }
        constexpr unsigned address_bits = 40;
        const std::uint64_t place =
            std::uint64_t{record.device} << address_bits | abi::physical_address(record);
        auto found = registers_.find(place);
        if (found == registers_.end()) {
            if (registers_.size() == most_) {
                ++left_out_;
                continue;
            }
            found = registers_.try_emplace(place).first;
        }
        Numbers& numbers = found->second;
        std::uint64_t& number = abi::is_write(record) ? numbers.written : numbers.read;
        number = std::max(number, event.number);
    }
    last_ = events.back().number;
}

LastAccesses::Found LastAccesses::found() const {
    Found found{{}, last_, left_out_};
    for (const auto& [place, numbers] : registers_) {
        for (const std::uint64_t number : {numbers.written, numbers.read}) {
            if (number != 0) {
                found.numbers.push_back(number);
            }
        }
    }
    std::ranges::sort(found.numbers);
    return found;
}

void RegisterState::add_all(std::span<const Event> events) {
    const auto begin = std::ranges::upper_bound(events, known_.last, {}, &Event::number);
    for (auto at = events.begin(); at != begin && next_ < known_.numbers.size(); ++next_) {
        at = std::ranges::lower_bound(at, begin, known_.numbers[next_], {}, &Event::number);
        if (at == begin) {
            break;
        }
        if (at->number == known_.numbers[next_]) {
            keep(*at);
        }
    }
    // From behind: only the last access of a register needs its names.
    for (auto at = events.end(); at != begin;) {
        keep(*--at);
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
