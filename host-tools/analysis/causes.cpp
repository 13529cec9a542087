#include "analysis/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

namespace {

bool known(const abi::Record& record) {
    return (record.flags & abi::flag_value_unknown) == 0;
}

} // namespace

void Causes::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access || record.device != target_.device ||
        abi::physical_address(record) != abi::physical_address(target_)) {
        return;
    }
    event.settle();
    if (is_target(event)) {
        this_.keep(event);
    } else if (!abi::is_write(record)) {
        read_.keep(event);
    } else {
        written_.keep(event);
        if (known(record) && known(target_) && record.value == target_.value) {
            wrote_this_value_.keep(event);
        }
    }
}

void Causes::forget() {
    for (KeptAccess* const access : {&this_, &read_, &written_, &wrote_this_value_}) {
        access->forget();
    }
}

// Bits that differ from the last known value of the register. For a write, the guest changed them;
// for a read, the device or whoever wrote the register did.
std::string Causes::changes() const {
    const KeptAccess& before = read_.number() > written_.number() ? read_ : written_;
    if (before.empty() || !known(before.record()) || !known(target_)) {
        return "";
    }
    const std::uint64_t bits = before.record().value ^ target_.value;
    const char* const what = abi::is_write(before.record()) ? "write" : "read";
    return bits == 0 ? fmt::format("the same value as in the previous {}", what)
                     : fmt::format("{:#x} changed since the previous {}", bits, what);
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
