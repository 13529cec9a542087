#include "registers/regs_line.hpp"

#include <algorithm>
#include <charconv>

namespace mmioscope::registers {

namespace {

constexpr char blank = ' ';

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_name(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-' || c == '/';
    });
}

// "0..31" or "A..G".
void set_indices(const RegsLine& line, std::string_view text, Series& series) {
    const std::size_t dots = text.find("..");
    const std::string_view from = text.substr(0, dots);
    const std::string_view to = dots == std::string_view::npos ? from : text.substr(dots + 2);
    const auto letter = [](std::string_view s) {
        return s.size() == 1 && s[0] >= 'A' && s[0] <= 'Z';
    };
    if (letter(from) && letter(to) && from[0] <= to[0]) {
        for (char c = from[0]; c <= to[0]; ++c) {
            series.labels.emplace_back(1, c);
        }
        series.count = series.labels.size();
        return;
    }
    const auto first = number(from);
    const auto last = number(to);
    if (!first || !last || *first > *last || *last >= 1u << 20) {
        throw line.error("'[{}]' is not a range of indices such as [0..31] or [A..G]", text);
    }
    series.first = *first;
    series.count = *last - *first + 1;
}

} // namespace

RegsLine::RegsLine(std::string_view text, std::string_view file, unsigned number)
    : file_(file), number_(number) {
    text = text.substr(0, text.find('#'));
    text_ = text;
    std::ranges::replace_if(
        text_, [](char c) { return c == '\t' || c == '\r'; }, blank);
    const std::size_t colon = text_.find(" : ");
    if (colon != std::string::npos) {
        description_ = trimmed(std::string_view(text_).substr(colon + 3));
        text_.resize(colon);
    }
    rest_ = trimmed(text_);
}

std::string_view RegsLine::peek() const {
    return rest_.substr(0, rest_.find(blank));
}

std::string_view RegsLine::word() {
    const std::string_view found = peek();
    rest_ = trimmed(rest_.substr(found.size()));
    return found;
}

std::string_view RegsLine::need(std::string_view what) {
    const std::string_view found = word();
    if (found.empty()) {
        throw error("{} is missing", what);
    }
    return found;
}

std::uint64_t RegsLine::need_number(std::string_view what) {
    const std::string_view text = need(what);
    const auto value = number(text);
    if (!value) {
        throw error("'{}' is not a number; expected {}", text, what);
    }
    return *value;
}

void RegsLine::finish() const {
    if (!rest_.empty()) {
        throw error("'{}' is not expected here", peek());
    }
}

IndexedName indexed_name(const RegsLine& line, std::string_view text) {
    IndexedName name;
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    name.before = text.substr(0, open);
    if (open != std::string_view::npos) {
        if (close == std::string_view::npos || close < open) {
            throw line.error("'{}': ] is missing", text);
        }
        name.indexed = true;
        name.series.prefix = name.before;
        name.behind = text.substr(close + 1);
        set_indices(line, text.substr(open + 1, close - open - 1), name.series);
    }
    if (text.empty() || !is_name(name.before) || !is_name(name.behind)) {
        throw line.error("'{}' is not a name", text);
    }
    return name;
}

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

std::optional<std::uint64_t> number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    text.remove_prefix(hexadecimal ? 2 : 0);
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

} // namespace mmioscope::registers
