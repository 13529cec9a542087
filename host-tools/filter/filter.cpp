#include "filter/filter.hpp"

#include "filter/aliases.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

bool any_matches(const std::vector<Pattern>& patterns, const std::vector<std::string>& names) {
    return std::any_of(patterns.begin(), patterns.end(), [&names](const Pattern& pattern) {
        return std::any_of(names.begin(), names.end(),
                           [&pattern](const auto& name) { return pattern.matches(name); });
    });
}

} // namespace

Filter::Filter(std::string_view text, const Settings& settings) : root_(parse(text, settings)) {}

void Filter::bind(const trace::TraceReader& reader) {
    context_.frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const std::vector<std::vector<std::string>> aliases = device_aliases(reader);
    for_each_test(root_, [&aliases](Test& test) {
        TextTest* const text = std::get_if<TextTest>(&test);
        if (text == nullptr || !text->field->device) {
            return;
        }
        text->regions.clear();
        for (const std::vector<std::string>& names : aliases) {
            text->regions.push_back(any_matches(text->patterns, names));
        }
    });
}

} // namespace mmioscope::filter
