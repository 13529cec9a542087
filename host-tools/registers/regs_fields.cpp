#include "registers/regs_fields.hpp"

#include "registers/number.hpp"

#include <algorithm>

namespace mmioscope::registers {

namespace {

struct Bits {
    unsigned low;
    unsigned width;
};

// "[7:4]" or "[3]".
Bits read_bits(const RegsLine& line, std::string_view text, unsigned register_bits) {
    const bool closed = text.size() > 2 && text.back() == ']';
    const std::string_view inner = closed ? text.substr(1, text.size() - 2) : "";
    const std::size_t colon = inner.find(':');
    const auto high = number(inner.substr(0, colon));
    const auto low = colon == std::string_view::npos ? high : number(inner.substr(colon + 1));
    if (!high || !low || *low > *high) {
        throw line.error("'{}' is not a range of bits such as [7:4] or [3]", text);
    }
    if (*high >= register_bits) {
        throw line.error("{} is beyond the {} bits of the register", text, register_bits);
    }
    return {static_cast<unsigned>(*low), static_cast<unsigned>(*high - *low + 1)};
}

void read_values(RegsLine& line, Field& field) {
    while (!line.peek().empty()) {
        const std::string_view text = line.word();
        const std::size_t equals = text.find('=');
        const auto value = number(text.substr(0, equals));
        if (!value || equals == std::string_view::npos || equals + 1 == text.size()) {
            throw line.error("'{}' is not a named value such as 1=on", text);
        }
        if (field.width < 64 && *value >> field.width != 0) {
            throw line.error("'{}' does not fit {} bits", text, field.width);
        }
        field.values.emplace_back(*value, std::string(text.substr(equals + 1)));
    }
}

} // namespace

void read_field(RegsLine& line, unsigned register_bits, std::vector<Field>& to) {
    const Bits bits = read_bits(line, line.word(), register_bits);
    const IndexedName name = indexed_name(line, line.need("the field's name"));
    Field field;
    field.width = bits.width;
    read_values(line, field);
    const std::uint64_t count = name.indexed ? name.series.count : 1;
    if (bits.low + count * bits.width > register_bits) {
        throw line.error("{} fields of {} bits do not fit {} bits", count, bits.width,
                         register_bits);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto low = static_cast<unsigned>(bits.low + i * bits.width);
        const bool taken = std::any_of(to.begin(), to.end(), [&](const Field& other) {
            return other.low < low + bits.width && low < other.low + other.width;
        });
        if (taken) {
            throw line.error("bit {} already belongs to another field", low);
        }
        field.low = low;
        const std::string index = i < name.series.labels.size()
                                      ? name.series.labels[i]
                                      : std::to_string(name.series.first + i);
        field.name = name.indexed ? name.before + index + name.behind : name.before;
        to.push_back(field);
    }
}

} // namespace mmioscope::registers
