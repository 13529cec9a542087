#include "filter/filter.hpp"

#include "filter/tokens.hpp"
#include "system/error.hpp"
#include "system/units.hpp"
#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace mmioscope::filter {

namespace {

using Names = std::vector<std::string>; ///< of one device

// The filter may contain all of a path that was cut off.
bool matches(const Pattern& pattern, const Names& names) {
    return std::ranges::any_of(names, [&pattern](const std::string& name) {
        return pattern.matches(name) ||
               (!pattern.is_regex() && tree::same_path(name, pattern.text()));
    });
}

/// For each device, whether it matches one of `patterns`.
std::vector<bool> meant(const std::vector<Pattern>& patterns, const std::vector<Names>& devices) {
    std::vector<bool> all;
    for (const Names& names : devices) {
        all.push_back(std::any_of(patterns.begin(), patterns.end(), [&names](const auto& pattern) {
            return matches(pattern, names);
        }));
    }
    return all;
}

// "-" means no device.
std::string unknown_device(const Pattern& pattern, const std::vector<Names>& devices) {
    std::vector<std::string_view> known;
    for (const Names& names : devices) {
        if (matches(pattern, names)) {
            return "";
        }
        known.insert(known.end(), names.begin(), names.end());
    }
    return known.empty() || pattern.matches("-")
               ? ""
               : fmt::format("the trace has no device '{}'{}", pattern.text(),
                             suggestion(pattern.text(), known));
}

using By = Filter::By;

By by(const Test& test) {
    const auto* const number = std::get_if<NumberTest>(&test);
    const auto* const text = std::get_if<TextTest>(&test);
    const auto by = number != nullptr ? number->field->by
                    : text != nullptr ? text->field->by
                                      : nullptr;
    return by == nullptr || by == &Event::text_id ? By::event
           : by == &Event::place_id               ? By::place
           : by == &Event::code_id                ? By::code
                                                  : By::context;
}

// A context has one place and one code.
By both(By a, By b) {
    return a == b ? a : a == By::event || b == By::event ? By::event : By::context;
}

constexpr std::string_view function_kind = "function";

// No event matches `node` without `test`.
bool needs(const Node& node, const Test& test) {
    return node.kind == Node::Kind::test
               ? &*node.test == &test
               : node.kind == Node::Kind::all_of &&
                     std::ranges::any_of(node.children,
                                         [&](const auto& child) { return needs(child, test); });
}

// Why no event had it; empty if that says nothing. A number may mean a task or a register without a
// name, or an interrupt of no known device. A packed trace has only the functions that its events
// need.
std::string unmet_text(std::string_view kind, const Pattern& pattern, bool needed,
                       const Filter::EachName& each_name) {
    const bool function = kind == function_kind;
    const std::string& text = pattern.text();
    Suggestion nearest(text);
    bool any = false, known = false;
    const bool all = each_name(kind, [&](std::string_view name) {
        any = true;
        known = known || pattern.matches(name);
        nearest.add(name);
    });
    if (!all ||
        (function ? pattern.is_regex() : !text.empty() && text[0] >= '0' && text[0] <= '9')) {
        return "";
    }
    constexpr std::string_view none = "it makes no access itself, or it is inlined";
    if (known) { // the filter may not have compared every event with it
        return function && needed
                   ? fmt::format("no chosen event has the function '{}': {}", text, none)
                   : "";
    }
    if (function && !any) {
        return fmt::format(
            "no event has the function '{}': no names of functions are known (--symbols)", text);
    }
    const std::string near = pattern.is_regex() ? "" : nearest.text();
    return fmt::format("the trace has no {} '{}'{}{}", kind, text, near,
                       function && near.empty() ? fmt::format(": the guest has none, or {}", none)
                                                : "");
}

} // namespace

std::vector<std::vector<std::string>> names_of_devices(const trace::TraceReader& reader) {
    const tree::TreeNodes nodes(reader.tree());
    const tree::Aliases aliases = tree::aliases(reader.tree());
    const std::vector<std::string> short_names = tree::short_names(reader.regions(), reader.tree());
    std::vector<Names> all;
    for (const abi::RegionEntry& region : reader.regions()) {
        const std::string_view path = tree::region_path(region);
        Names names = tree::names_of(path, aliases);
        names.push_back(short_names[all.size()]);
        names.emplace_back(reader.names()[static_cast<std::uint16_t>(all.size())]);
        if (const std::size_t node = nodes.find(path); node != tree::TreeNodes::none) {
            for (const std::string& text : nodes.strings(node, "compatible")) {
                names.push_back(text);
                names.push_back(text.substr(text.find(',') + 1));
            }
        }
        all.push_back(std::move(names));
    }
    return all;
}

std::string of_device(const std::string& name) {
    if (name.find('"') != std::string::npos) {
        throw bad_input("DEV: a device's name has no quotes");
    }
    return fmt::format("dev==\"{}\"", name);
}

Filter::Filter(std::string_view text, const Settings& settings)
    : root_(parse(text, settings)), by_(By::event), known_(most_known) {
    std::optional<By> all;
    for_each_test(root_, [&all](const Test& test) {
        all = both(all.value_or(filter::by(test)), filter::by(test));
    });
    by_ = all.value_or(By::event);
}

bool Filter::holds_by_number(const Event& event) const {
    const std::uint64_t number = by_ == By::place  ? event.place_id()
                                 : by_ == By::code ? event.code_id()
                                                   : event.context();
    if (by_ == By::context && number == 0) { // it has no context
        return holds(root_, event, context_);
    }
    Known& known = known_[number % most_known];
    if (known.number != number || known.state == Known::State::unasked) {
        const bool held = holds(root_, event, context_);
        known = {number, held ? Known::State::holds : Known::State::fails};
    }
    return known.state == Known::State::holds;
}

std::vector<std::string> Filter::bind(const trace::TraceReader& reader) {
    context_.tick = trace::TickLength(reader.info() ? reader.info()->counter_frequency : 0);
    context_.bases.clear();
    for (const abi::RegionEntry& region : reader.regions()) {
        context_.bases.push_back(region.base);
    }
    const std::vector<Names> devices = names_of_devices(reader);
    std::vector<std::string> unknown;
    for_each_test(root_, [&](Test& test) {
        TextTest* const text = std::get_if<TextTest>(&test);
        if (text == nullptr || !text->field->device) {
            return;
        }
        text->regions = meant(text->patterns, devices);
        for (const Pattern& pattern : text->patterns) {
            if (std::string line = unknown_device(pattern, devices); !line.empty()) {
                unknown.push_back(std::move(line));
            }
        }
    });
    of_record_ = RecordFilter(root_, context_);
    forget();
    return unknown;
}

std::vector<std::string> Filter::unmet(const EachName& each_name) {
    std::vector<std::string> lines;
    for_each_test(root_, [&](Test& test) {
        const auto add = [&](std::string_view kind, const Pattern& pattern) {
            lines.push_back(unmet_text(kind, pattern, needs(root_, test), each_name));
        };
        const auto* const text = std::get_if<TextTest>(&test);
        const auto* const bits = std::get_if<BitsTest>(&test);
        if (text != nullptr && !text->met && !text->field->kind.word.empty()) {
            for (const Pattern& pattern : text->patterns) {
                add(text->field->kind.word, pattern);
            }
        } else if (bits != nullptr && bits->reg) {
            add("register", *bits->reg);
        }
    });
    std::erase(lines, "");
    return lines;
}

namespace {

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

} // namespace

RecordFilter::RecordFilter(const Node& root, const Context& context)
    : context_(&context),
      decides_(!has(root, [](const Test& test) { return !is_of_record(test); })) {
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
    using namespace fields_of;
    static constexpr EventField field({}, {}, "", record_number<number<&abi::Record::device>>);
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
