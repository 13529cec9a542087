#include "filter/expression.hpp"

#include "mmioscope/event.hpp"
#include "records/kinds.hpp"
#include "registers/fields_text.hpp"

#include <algorithm>
#include <cstdint>

namespace mmioscope::filter {

namespace {

bool within(const Ranges& ranges, std::uint64_t number) {
    return std::any_of(ranges.begin(), ranges.end(), [number](const Range& range) {
        return number >= range.first && number <= range.last;
    });
}

bool holds(const NumberTest& test, const Event& event, const Context& context) {
    const Number number = test.field->number(event, context);
    return number.known && within(test.ranges, number.value & test.mask.value_or(UINT64_MAX));
}

bool holds(const TextTest& test, const Event& event, const Context&) {
    const std::uint16_t device = event.record.device;
    if (test.field->device && device < test.regions.size()) {
        return test.regions[device];
    }
    const bool holds = test.field->any(event, test.patterns);
    test.met = test.met || holds;
    return holds;
}

/// The bits of `field` in the event's value. Nothing if the value is unknown, or if the access did
/// not include all of these bits. `event.reg()` must not be null.
std::optional<std::uint64_t> field_value(const Event& event, const Field& field) {
    const abi::Record& record = event.record;
    const std::uint64_t into = event.offset() - event.reg()->offset; // bytes; huge if negative
    if (!trace::has_bus_value(record) || into >= 8) {
        return std::nullopt;
    }
    const auto within = static_cast<unsigned>(into);
    const unsigned size = std::min(abi::access_size(record), 8u);
    if (field.width == 0 || !registers::holds(field, size, within)) {
        return std::nullopt;
    }
    return registers::field_value(field, record.value, within);
}

bool holds(const BitsTest& test, const Event& event, const Context&) {
    if (event.reg() == nullptr || (test.reg && !test.reg->matches(event.reg()->name))) {
        return false;
    }
    return std::any_of(
        event.reg()->fields.begin(), event.reg()->fields.end(),
        [&test, &event](const Field& field) {
            if (!test.field.matches(field.name)) {
                return false;
            }
            const std::optional<std::uint64_t> bits = field_value(event, field);
            const std::string* const name = bits ? registers::value_name(field, *bits) : nullptr;
            return bits && (within(test.ranges, *bits & test.mask.value_or(UINT64_MAX)) ||
                            any_matches(test.names, name != nullptr ? *name : ""));
        });
}

bool holds(const CustomTest& test, const Event& event, const Context&) {
    return test.keep(event);
}

} // namespace

bool holds(const Node& node, const Event& event, const Context& context) {
    const auto child = [&event, &context](const Node& one) { return holds(one, event, context); };
    switch (node.kind) {
    case Node::Kind::all_of: return std::all_of(node.children.begin(), node.children.end(), child);
    case Node::Kind::any_of: return std::any_of(node.children.begin(), node.children.end(), child);
    case Node::Kind::none_of:
        return std::none_of(node.children.begin(), node.children.end(), child);
    case Node::Kind::test: break;
    }
    return std::visit([&event, &context](const auto& test) { return holds(test, event, context); },
                      *node.test);
}

void for_each_test(Node& node, const std::function<void(Test&)>& visit) {
    if (node.test) {
        visit(*node.test);
    }
    for (Node& child : node.children) {
        for_each_test(child, visit);
    }
}

} // namespace mmioscope::filter
