#include "analysis/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

void Causes::add(const Event& event) {
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

void Causes::forget() {
    for (KeptAccess* const access : {&this_, &read_, &written_, &wrote_this_value_}) {
        access->forget();
    }
}

// Bits that differ from the last known value of the register, where both accesses are. For a write,
// the guest changed them; for a read, the device or whoever wrote the register did.
std::string Causes::changes() const {
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
    const std::string what = fmt::format(
        "{}{}", abi::is_write(before.record()) ? "write" : "read",
        both == here ? ""
                     : fmt::format(", in the {} bytes that both access", both.end - both.begin));
    const bool by_other = of_memory_ && !abi::is_write(target_) && recorded_.all(both.begin) &&
                          recorded_.all(both.end - 1) && unseen_ < before.number();
    return bits == 0 ? fmt::format("the same value as in the previous {}", what)
                     : fmt::format("{:#x} changed since the previous {}{}", bits, what,
                                   by_other ? ", by another master: no CPU stored it" : "");
}

table::Table Causes::table() const {
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

} // namespace mmioscope::analysis
