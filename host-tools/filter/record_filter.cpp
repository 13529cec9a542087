#include "filter/record_filter.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope::filter {

namespace {

std::uint64_t device_of(const abi::Record& record, const Context&) {
    return record.device;
}

// A test of devices knows the regions of the whole trace.
bool is_of_record(const Test& test) {
    if (const auto* const number = std::get_if<NumberTest>(&test)) {
        return number->field->of_record.which != nullptr;
    }
    const auto* const text = std::get_if<TextTest>(&test);
    return text != nullptr && text->field->device && !text->regions.empty();
}

bool has(const Node& node, bool (*what)(const Test&)) {
    return (node.test && what(*node.test)) ||
           std::any_of(node.children.begin(), node.children.end(),
                       [what](const Node& child) { return has(child, what); });
}

bool is_custom(const Test& test) {
    return std::holds_alternative<CustomTest>(test);
}
bool takes_names(const Test& test) {
    return !is_of_record(test);
}

} // namespace

RecordFilter::RecordFilter(const Node& root, const Context& context)
    : context_(&context), decides_(!has(root, takes_names)) {
    first_ = add(root, keep, drop, true);
    reach_.resize(steps_.size());
}

std::uint64_t RecordFilter::may_hold(std::span<const abi::Record> records, std::uint64_t of) const {
    std::uint64_t kept = 0;
    const auto lead = [&](std::uint64_t some, std::int32_t to) {
        if (to >= 0) {
            reach_[static_cast<std::size_t>(to)] |= some;
        } else if (to == keep) {
            kept |= some;
        }
    };
    lead(of, first_);
    for (auto at = static_cast<std::size_t>(std::max(first_, keep) + 1); at-- > 0;) {
        if (const std::uint64_t here = std::exchange(reach_[at], 0); here != 0) {
            const Step& step = steps_[at];
            const std::uint64_t held = step.which(records, here, step.range, *context_);
            lead(held, step.yes);
            lead(here & ~held, step.no);
        }
    }
    return kept;
}

// Adds the steps for `node`, which lead to `yes` or `no`. Returns the first one. A test that needs
// names gets the result that keeps the record: `kept_if`.
std::int32_t RecordFilter::add(const Node& node, std::int32_t yes, std::int32_t no, bool kept_if) {
    switch (node.kind) {
    case Node::Kind::none_of: {
        std::int32_t next = yes;
        for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
            next = add(*child, no, next, !kept_if);
        }
        return next;
    }
    case Node::Kind::all_of:
    case Node::Kind::any_of: {
        const bool all = node.kind == Node::Kind::all_of;
        // The calls of a plug-in depend on the conditions before it, and it may have state: no
        // later condition may skip it.
        const auto custom = std::find_if(node.children.begin(), node.children.end(),
                                         [](const Node& child) { return has(child, is_custom); });
        std::int32_t next = all ? yes : no;
        if (custom != node.children.end()) {
            next = kept_if ? yes : no;
        }
        for (auto child = std::make_reverse_iterator(custom); child != node.children.rend();
             ++child) {
            next = all ? add(*child, next, no, kept_if) : add(*child, yes, next, kept_if);
        }
        return next;
    }
    case Node::Kind::test: break;
    }
    if (!is_of_record(*node.test)) {
        return kept_if ? yes : no;
    }
    const auto* const number = std::get_if<NumberTest>(&*node.test);
    return number != nullptr ? add(*number, yes, no) : add(std::get<TextTest>(*node.test), yes, no);
}

std::int32_t RecordFilter::add(const NumberTest& test, std::int32_t yes, std::int32_t no) {
    std::int32_t next = no;
    columns_ = columns_ | test.field->of_record.columns;
    for (const Range& range : test.ranges) {
        steps_.push_back({test.field->of_record.which,
                          {test.mask.value_or(UINT64_MAX), range.first, range.last - range.first},
                          yes,
                          next});
        next = static_cast<std::int32_t>(steps_.size() - 1);
    }
    return next;
}

// Adjacent regions form one range. An address outside all regions is "-".
std::int32_t RecordFilter::add(const TextTest& test, std::int32_t yes, std::int32_t no) {
    static constexpr NumberField field{"", of_record<device_of>};
    NumberTest devices{&field, std::nullopt, {}};
    for (std::size_t i = 0; i < test.regions.size(); ++i) {
        if (test.regions[i] && i > 0 && test.regions[i - 1]) {
            devices.ranges.back().last = i;
        } else if (test.regions[i]) {
            devices.ranges.push_back({i, i});
        }
    }
    if (any_matches(test.patterns, "-")) {
        devices.ranges.push_back({test.regions.size(), UINT64_MAX});
    }
    return add(devices, yes, no);
}

} // namespace mmioscope::filter
