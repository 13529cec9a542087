#include "filter/expression.hpp"

#include <fmt/format.h>

namespace mmioscope::filter {

namespace {

std::string list(const std::vector<std::string>& items) {
    return fmt::format("({})", fmt::join(items, ", "));
}

std::string number_text(std::uint64_t number, NumberField::Unit unit) {
    return unit == NumberField::Unit::time ? fmt::format("{}ns", number)
                                           : fmt::format("{:#x}", number);
}

void add_ranges(std::vector<std::string>& items, const Ranges& ranges, NumberField::Unit unit) {
    for (const Range& range : ranges) {
        const std::string first = number_text(range.first, unit);
        items.push_back(range.first == range.last
                            ? first
                            : fmt::format("{}..{}", first, number_text(range.last, unit)));
    }
}

std::string masked(const std::optional<std::uint64_t>& mask) {
    return mask ? fmt::format(" & {:#x}", *mask) : "";
}

// `items` is empty if no number matches. A glob with a comma is the only item: in a list the comma
// would end it.
std::string compared(const std::string& what, const std::vector<std::string>& items) {
    const bool comma = items.size() == 1 && items.front().find(',') != std::string::npos;
    return items.empty() ? what + " < 0"
           : comma       ? what + " == " + items.front()
                         : what + " in " + list(items);
}

std::string written(const NumberTest& test) {
    std::vector<std::string> items;
    add_ranges(items, test.ranges, test.field->unit);
    return compared(std::string(test.field->name) + masked(test.mask), items);
}

std::string written(const TextTest& test) {
    if (test.patterns.front().is_regex()) {
        return fmt::format("{} =~ {}", test.field->name, test.patterns.front().written());
    }
    std::vector<std::string> items;
    for (const Pattern& pattern : test.patterns) {
        items.push_back(pattern.written());
    }
    return compared(std::string(test.field->name), items);
}

std::string written(const BitsTest& test) {
    const std::string what =
        (test.reg ? fmt::format("field({}, {})", test.reg->written(), test.field.written())
                  : fmt::format("field({})", test.field.written())) +
        masked(test.mask);
    std::vector<std::string> items;
    add_ranges(items, test.ranges, NumberField::Unit::none);
    for (const Pattern& name : test.names) {
        items.push_back(name.written());
    }
    return compared(what, items);
}

std::string written(const CustomTest& test) {
    return test.written;
}

} // namespace

std::string written(const Node& node) {
    if (node.kind == Node::Kind::test) {
        return std::visit([](const auto& test) { return written(test); }, *node.test);
    }
    std::vector<std::string> parts;
    for (const Node& child : node.children) {
        parts.push_back(written(child));
    }
    if (node.kind == Node::Kind::none_of) {
        return fmt::format("!({})", parts.front());
    }
    return fmt::format("({})", fmt::join(parts, node.kind == Node::Kind::all_of ? " && " : " || "));
}

} // namespace mmioscope::filter
