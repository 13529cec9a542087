#include "analysis/register_state.hpp"

#include "system/capped_map.hpp"

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
        constexpr unsigned address_bits = 40, size_bits = 3;
        const std::uint64_t place =
            (std::uint64_t{record.device} << address_bits | abi::physical_address(record))
                << size_bits |
            (record.access >> abi::access_size_shift & abi::access_size_mask);
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
    const Place place{record.device, abi::physical_address(record), abi::access_size(record)};
    auto at = registers_.lower_bound(place);
    if (at == registers_.end() || at->first != place) {
        if (registers_.size() == most_) {
            ++left_out_;
            return;
        }
        at = registers_.emplace_hint(at, place, Accesses());
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

// `widest`: of the accesses that begin at one address, those of the largest size.
void RegisterState::add_rows(const Place& widest, table::Table& to) const {
    constexpr std::uint64_t most_size = 64;
    const auto& [device, address, size] = widest;
    const Bytes here{address, address + size};
    KeptAccess empty;
    const KeptAccess* last[2] = {&empty, &empty};  // written, read
    const KeptAccess* whole[2] = {&empty, &empty}; // likewise, of `here`
    std::uint64_t changed = 0;                     // by the last write to a part
    const std::uint64_t from = address - std::min(address, most_size);
    for (auto at = registers_.lower_bound({device, from, 0});
         at != registers_.end() && at->first < Place(device, here.end, 0); ++at) {
        const Bytes there{std::get<1>(at->first), std::get<1>(at->first) + std::get<2>(at->first)};
        for (const bool read : {false, true}) {
            const KeptAccess& one = at->second.of(read);
            if (one.empty() || !there.overlaps(here)) {
                continue;
            }
            const bool counts = there.begin == here.begin || there.has(here);
            if (counts && one.number() > last[read]->number()) {
                last[read] = &one;
            }
            if (!counts && !read) {
                changed = std::max(changed, one.number());
            }
            if (there == here) {
                whole[read] = &one;
            }
        }
    }
    const KeptAccess& of_size = whole[0]->empty() ? *whole[1] : *whole[0];
    const bool read_first = last[1]->number() < last[0]->number();
    for (const bool read : {read_first, !read_first}) {
        const KeptAccess& access = *last[read];
        if (access.empty()) {
            continue;
        }
        const std::string_view what = read ? "read" : "written";
        to.rows.push_back(abi::physical_address(access.record()) == address
                              ? access.row(what)
                              : of_size.row_of_part(access, what));
        if (!read && changed > access.number()) {
            to.rows.back().front() = fmt::format("written, in part by {}", changed);
        }
    }
}

table::Table RegisterState::table() const {
    table::Table table{kept_columns(), {}};
    for (auto begin = registers_.begin(); begin != registers_.end();) {
        const auto& [device, address, size] = begin->first;
        const auto end = registers_.lower_bound({device, address + 1, 0});
        add_rows(std::prev(end)->first, table);
        begin = end;
    }
    add_left_out(table.left_out, left_out_, "accesses to registers", most_);
    return table;
}

} // namespace mmioscope::analysis
