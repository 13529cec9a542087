#include "view/field_text.hpp"

#include <fmt/format.h>

namespace mmioscope::view {

namespace {

const std::string* name_of(const Field& field, std::uint64_t value) {
    for (const auto& [number, name] : field.values) {
        if (number == value) {
            return &name;
        }
    }
    return nullptr;
}

std::string text_of(const Field& field, std::uint64_t value) {
    if (const std::string* name = name_of(field, value)) {
        return field.name + "=" + *name;
    }
    if (value == 0) {
        return {};
    }
    return field.width == 1 ? field.name : fmt::format("{}={:#x}", field.name, value);
}

} // namespace

std::string field_text(const Register& reg, std::uint64_t value) {
    std::string all;
    for (const Field& field : reg.fields) {
        const std::uint64_t mask = field.width < 64 ? (std::uint64_t{1} << field.width) - 1 : ~0ull;
        const std::string text = text_of(field, value >> field.low & mask);
        all += all.empty() || text.empty() ? "" : " ";
        all += text;
    }
    return all;
}

} // namespace mmioscope::view
