#include "filter/filter.hpp"

#include "filter/aliases.hpp"
#include "filter/complaint.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

using Names = std::vector<std::string>; ///< of one device

bool matches(const Pattern& pattern, const Names& names) {
    return std::any_of(names.begin(), names.end(),
                       [&pattern](const auto& name) { return pattern.matches(name); });
}

/// Of each device whether one of `patterns` means it.
std::vector<bool> meant(const std::vector<Pattern>& patterns, const std::vector<Names>& devices) {
    std::vector<bool> all;
    for (const Names& names : devices) {
        all.push_back(std::any_of(patterns.begin(), patterns.end(), [&names](const auto& pattern) {
            return matches(pattern, names);
        }));
    }
    return all;
}

// "-" is what has none.
std::string stranger(const Pattern& pattern, const std::vector<Names>& devices) {
    std::vector<std::string_view> known;
    for (const Names& names : devices) {
        if (matches(pattern, names)) {
            return "";
        }
        known.insert(known.end(), names.begin(), names.end());
    }
    return known.empty() || pattern.matches("-")
               ? ""
               : fmt::format("-F: the trace has no device '{}'{}", pattern.text(),
                             suggestion(pattern.text(), known));
}

// And on nothing else.
bool depends_on_context(const Test& test) {
    if (const auto* const number = std::get_if<NumberTest>(&test)) {
        return number->field->of_context;
    }
    const auto* const text = std::get_if<TextTest>(&test);
    return text != nullptr && text->field->by != nullptr && text->field->by != &Event::text_id;
}

} // namespace

constexpr std::size_t most_known = 2048;

Filter::Filter(std::string_view text, const Settings& settings)
    : root_(parse(text, settings)), by_context_(true), known_(most_known) {
    for_each_test(root_, [this](const Test& test) { by_context_ &= depends_on_context(test); });
}

bool Filter::holds_in_context(const Event& event) const {
    const std::uint64_t context = event.context();
    Known& known = known_[context % most_known];
    if (known.context != context || context == 0) {
        known = {context, holds(root_, event, context_)};
    }
    return known.holds;
}

std::vector<std::string> Filter::bind(const trace::TraceReader& reader) {
    context_.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    context_.bases.clear();
    for (const abi::RegionEntry& region : reader.regions()) {
        context_.bases.push_back(region.base);
    }
    const std::vector<Names> devices = device_aliases(reader);
    std::vector<std::string> strangers;
    for_each_test(root_, [&](Test& test) {
        TextTest* const text = std::get_if<TextTest>(&test);
        if (text == nullptr || !text->field->device) {
            return;
        }
        text->regions = meant(text->patterns, devices);
        for (const Pattern& pattern : text->patterns) {
            if (std::string line = stranger(pattern, devices); !line.empty()) {
                strangers.push_back(std::move(line));
            }
        }
    });
    of_record_ = RecordFilter(root_, context_);
    return strangers;
}

} // namespace mmioscope::filter
