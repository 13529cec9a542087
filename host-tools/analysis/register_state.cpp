#include "analysis/register_state.hpp"

#include "system/capped_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

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

namespace {

/// Why a register has the value of an access: the earlier accesses to it.
class Causes final : public Analysis {
public:
    Causes(const Event& access, bool of_memory)
        : number_(access.number), target_(access.record), of_memory_(of_memory) {}

    void add(const Event& event) override {
        const abi::Record& record = event.record;
        unseen_ = recorded_.add(record) ? event.number : unseen_;
        const Bytes here = touched_by(target_);
        if (record.type != abi::RecordType::access || record.device != target_.device ||
            !touched_by(record).overlaps(here)) {
            return;
        }
        event.settle();
        if (is_target(event)) {
            this_.keep(event);
        } else if (!abi::is_write(record)) {
            read_.keep(event);
        } else {
            written_.keep(event);
            const std::optional<std::uint64_t> wrote =
                touched_by(record).has(here) ? value_at(record, here) : std::nullopt;
            if (wrote && wrote == value_at(target_, here)) {
                wrote_this_value_.keep(event);
            }
        }
    }
    void forget() override {
        for (KeptAccess* const access : {&this_, &read_, &written_, &wrote_this_value_}) {
            access->forget();
        }
    }

    table::Table table() override {
        std::vector<std::pair<const KeptAccess*, std::string_view>> all{
            {&written_, "previous write"}, {&read_, "previous read"}, {&this_, "this"}};
        if (!abi::is_write(target_) && wrote_this_value_.number() != written_.number()) {
            all.emplace_back(&wrote_this_value_, "wrote this value");
        }
        std::ranges::sort(all, {}, [](const auto& one) { return one.first->number(); });
        table::Table table{kept_columns(), {}};
        for (const auto& [access, what] : all) {
            if (!access->empty()) {
                table.rows.push_back(access->row(what));
            }
        }
        table.closing = changes();
        return table;
    }

private:
    bool is_target(const Event& event) const { return event.number == number_; }

    // Bits that differ from the last known value of the register, where both accesses are. For a
    // write, the guest changed them; for a read, the device or whoever wrote the register did.
    std::string changes() const {
        const KeptAccess& before = read_.number() > written_.number() ? read_ : written_;
        if (before.empty()) {
            return "";
        }
        const Bytes here = touched_by(target_);
        const Bytes there = touched_by(before.record());
        const Bytes both{std::max(here.begin, there.begin), std::min(here.end, there.end)};
        const std::optional<std::uint64_t> was = value_at(before.record(), both);
        const std::optional<std::uint64_t> is = value_at(target_, both);
        if (!was || !is) {
            return "";
        }
        const std::uint64_t bits = (*was ^ *is) << 8 * (both.begin - here.begin);
        const std::string what =
            fmt::format("{}{}", abi::is_write(before.record()) ? "write" : "read",
                        both == here ? ""
                                     : fmt::format(", in the {} bytes that both access",
                                                   both.end - both.begin));
        const bool by_other = of_memory_ && !abi::is_write(target_) && recorded_.all(both.begin) &&
                              recorded_.all(both.end - 1) && unseen_ < before.number();
        return bits == 0 ? fmt::format("the same value as in the previous {}", what)
                         : fmt::format("{:#x} changed since the previous {}{}", bits, what,
                                       by_other ? ", by another master: no CPU stored it" : "");
    }

    std::uint64_t number_;
    abi::Record target_;
    bool of_memory_;
    Recorded recorded_;
    std::uint64_t unseen_ = 0; ///< the last event before which accesses may have no records
    KeptAccess this_, read_, written_, wrote_this_value_;
};

} // namespace

std::unique_ptr<Analysis> make_causes(const Event& access, bool of_memory) {
    return std::make_unique<Causes>(access, of_memory);
}

} // namespace mmioscope::analysis
