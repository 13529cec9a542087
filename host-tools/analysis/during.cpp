#include "analysis/during.hpp"

#include <algorithm>
#include <iterator>

namespace mmioscope::analysis {

During::During(const std::string& function) : begins_("call && func==" + function) {}

std::span<const Event> During::inside(std::span<const Event> events) {
    inside_.clear();
    std::ranges::copy_if(events, std::back_inserter(inside_),
                         [this](const Event& event) { return is_inside(event); });
    return inside_;
}

bool During::is_inside(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::call) {
        return calls(event);
    }
    if (record.type == abi::RecordType::ret) {
        return returns(record);
    }
    if (record.type == abi::RecordType::gap) {
        return true;
    }
    const Thread thread = threads_.with(event);
    const Call* const call = open_.innermost(record);
    return call != nullptr && call->inside && call->thread == thread;
}

bool During::calls(const Event& event) {
    const abi::Record& record = event.record;
    auto& open = open_.at(record);
    const bool inside = (!open.empty() && open.back().inside) || begins_(event);
    if ((record.flags & abi::flag_returns) != 0) {
        open_.open_one(open, {record.pc, record.lr, record.sp, threads_.of(record), inside});
    }
    return inside;
}

bool During::returns(const abi::Record& record) {
    auto& open = open_.at(record);
    const auto ended = decltype(open_)::ending(open, record);
    const bool inside = std::ranges::any_of(ended, &Call::inside);
    open.resize(open.size() - ended.size());
    return inside;
}

} // namespace mmioscope::analysis
