#include "registers/fields_text.hpp"

#include "system/text_buffer.hpp"

#include <fmt/format.h>

#include <charconv>
#include <span>

namespace mmioscope::registers {

namespace {

/// A field's name split: "Priority3".
struct Numbered {
    std::string_view stem;
    std::string_view digits;
};

Numbered split(std::string_view name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    const std::size_t length = last == std::string_view::npos ? 0 : last + 1;
    return {name.substr(0, length), name.substr(length)};
}

std::uint64_t number_of(std::string_view digits) {
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

bool follows(const Field& field, const Field& before) {
    const Numbered a = split(before.name);
    const Numbered b = split(field.name);
    return field.width == before.width && !a.digits.empty() && !b.digits.empty() &&
           a.stem == b.stem && number_of(b.digits) == number_of(a.digits) + 1;
}

/// Whether `field` is its whole register and has no name for the value: then the value itself says
/// as much.
bool says_nothing_new(const Field& field, std::uint64_t value, const Register& reg) {
    return field.width == reg.size * 8 && value_name(field, value) == nullptr;
}

void append(std::string& text, const Field& first, const Field& last, std::uint64_t value) {
    text += text.empty() ? "" : " ";
    text += first.name;
    if (&first != &last) {
        text += "..";
        text += split(last.name).digits;
    }
    text += '=';
    if (const std::string* name = value_name(first, value)) {
        text += *name;
    } else if (value < 10) {
        text += static_cast<char>('0' + value);
    } else {
        text += hex_text(value);
    }
}

/// "Name&mask=", without a mask if all of the field is meant.
void append_part(std::string& text, std::string_view name, std::uint64_t part, bool all) {
    text += text.empty() ? "" : " ";
    text += name;
    text += all ? "=" : fmt::format("&{:#x}=", part);
}

} // namespace

const std::string* value_name(const Field& field, std::uint64_t value) {
    const auto found = std::find_if(field.values.begin(), field.values.end(),
                                    [value](const auto& named) { return named.first == value; });
    return found == field.values.end() ? nullptr : &found->second;
}

bool holds(const Field& field, unsigned size, unsigned within) {
    return field.low >= within * 8 && field.low + field.width <= (within + size) * 8;
}

std::string fields_text(const Register& reg, std::uint64_t value, unsigned size, unsigned within) {
    std::string text;
    const std::vector<Field>& fields = reg.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::uint64_t here = field_value(fields[i], value, within);
        if (!holds(fields[i], size, within) || says_nothing_new(fields[i], here, reg) ||
            (here == 0 && value_name(fields[i], 0) == nullptr)) {
            continue;
        }
        const std::size_t first = i;
        while (i + 1 < fields.size() && follows(fields[i + 1], fields[i]) &&
               holds(fields[i + 1], size, within) &&
               field_value(fields[i + 1], value, within) == here) {
            ++i;
        }
        append(text, fields[first], fields[i], here);
    }
    return text;
}

std::string bits_text(const Register* reg, std::uint64_t bits, std::uint64_t value, unsigned size,
                      unsigned within) {
    std::string text;
    for (const Field& field : reg != nullptr ? std::span(reg->fields) : std::span<const Field>()) {
        const FieldBits place(field, within);
        const std::uint64_t part = place.of(bits);
        if (part == 0 || !holds(field, size, within)) {
            continue;
        }
        const bool all = part == place.of(~std::uint64_t{0});
        const std::uint64_t here = place.of(value) & part;
        const std::string* const name = all ? value_name(field, here) : nullptr;
        append_part(text, field.name, part, all);
        text += name != nullptr ? *name : here < 10 ? fmt::format("{}", here) : hex_text(here);
        bits ^= place.in_place(bits);
    }
    if (bits != 0) {
        append_part(text, "", bits, false);
        text += fmt::format("{:#x}", value & bits);
    }
    return text;
}

std::string changes_text(const Place& place, std::uint64_t before, std::uint64_t now,
                         unsigned size) {
    std::string text;
    const auto add = [&text](std::string_view words) {
        text += text.empty() ? "" : " ";
        text += words;
    };
    const auto shown = [](const Field& field, std::uint64_t value) {
        const std::string* const name = value_name(field, value);
        return name != nullptr ? *name : value < 10 ? fmt::format("{}", value) : hex_text(value);
    };
    std::uint64_t bits = before ^ now;
    const Register* const reg = place.reg;
    const auto within = static_cast<unsigned>(reg != nullptr ? place.offset - reg->offset : 0);
    for (const Field& field : reg != nullptr ? std::span(reg->fields) : std::span<const Field>()) {
        const FieldBits in(field, within);
        if (in.of(bits) == 0 || !holds(field, size, within)) {
            continue;
        }
        bits ^= in.in_place(bits);
        if (field.width == 1) {
            add((in.of(now) != 0 ? '+' : '-') + field.name);
        } else if (!says_nothing_new(field, in.of(now), *reg)) {
            add(fmt::format("{} {} -> {}", field.name, shown(field, in.of(before)),
                            shown(field, in.of(now))));
        }
    }
    for (const auto& [sign, mask] : {std::pair('+', bits & now), std::pair('-', bits & before)}) {
        if (mask != 0) {
            add(sign + hex_text(mask));
        }
    }
    return text;
}

bool says_anything(const Register& reg) {
    return std::any_of(reg.fields.begin(), reg.fields.end(), [&reg](const Field& field) {
        return field.width != reg.size * 8 || !field.values.empty();
    });
}

std::string register_text(const Register& reg, std::uint64_t offset) {
    return offset == reg.offset ? reg.name : fmt::format("{}+{}", reg.name, offset - reg.offset);
}

std::string register_text(const Register* reg, std::uint64_t offset) {
    return reg == nullptr ? fmt::format("+{:#05x}", offset) : register_text(*reg, offset);
}

std::string register_text(const Place& place) {
    return place.registers.empty() ? register_text(place.reg, place.offset)
                                   : std::string(place.registers);
}

} // namespace mmioscope::registers
