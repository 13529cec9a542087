#include "filter/field.hpp"

#include <algorithm>

namespace mmioscope::filter {

namespace {

template <typename Field>
const Field* find(std::span<const Field> fields, std::string_view name) {
    const auto synonym = std::find_if(synonyms().begin(), synonyms().end(),
                                      [name](const Synonym& one) { return one.name == name; });
    const std::string_view meant = synonym == synonyms().end() ? name : synonym->field;
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [meant](const Field& one) { return one.name == meant; });
    return field == fields.end() ? nullptr : &*field;
}

} // namespace

std::span<const Synonym> synonyms() {
    static constexpr Synonym all[] = {
        {"device", "dev"}, {"register", "reg"},  {"function", "func"}, {"read", "r"},
        {"write", "w"},    {"direction", "dir"}, {"interrupt", "irq"},
    };
    return all;
}

const NumberField* number_field(std::string_view name) {
    return find(number_fields(), name);
}

const TextField* text_field(std::string_view name) {
    return find(text_fields(), name);
}

} // namespace mmioscope::filter
