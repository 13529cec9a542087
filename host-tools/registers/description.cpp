#include "registers/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mmioscope::registers {

namespace {

/// The index of `offset` in each series, if their steps nest: the largest step first.
std::vector<std::uint64_t> indices(const Entry& entry, std::uint64_t& offset) {
    std::vector<std::size_t> order(entry.series.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&entry](std::size_t a, std::size_t b) {
        return entry.series[a].step > entry.series[b].step;
    });
    std::vector<std::uint64_t> found(order.size());
    for (const std::size_t i : order) {
        const Series& series = entry.series[i];
        found[i] = series.step == 0 ? 0 : std::min(offset / series.step, series.count - 1);
        offset -= found[i] * series.step;
    }
    return found;
}

/// A register of an entry, for comparison with others.
struct Occurrence {
    std::uint64_t start;
    const Entry* entry;
};

constexpr std::uint64_t looked_at = 3; ///< of each series: the rest repeats these
/// Limit of a description: each level of its series multiplies them.
constexpr std::size_t most_places = 1u << 20;

void add_places(const Entry& entry, std::size_t depth, std::uint64_t start,
                std::vector<Occurrence>& to) {
    if (to.size() == most_places) {
        return;
    }
    if (depth == entry.series.size()) {
        to.push_back({start, &entry});
        return;
    }
    const Series& series = entry.series[depth];
    for (std::uint64_t i = 0; i < std::min(series.count, looked_at); ++i) {
        add_places(entry, depth + 1, start + i * series.step, to);
    }
    if (series.count > looked_at) {
        add_places(entry, depth + 1, start + (series.count - 1) * series.step, to);
    }
}

bool same_direction(const Entry& a, const Entry& b) {
    return a.direction == Direction::both || b.direction == Direction::both ||
           a.direction == b.direction;
}

} // namespace

std::string label(const Series& series, std::uint64_t index) {
    return index < series.labels.size() ? series.labels[index]
                                        : std::to_string(series.first + index);
}

std::uint64_t extent(const Entry& entry) {
    std::uint64_t bytes = entry.first.size;
    for (const Series& series : entry.series) {
        bytes += (series.count - 1) * series.step;
    }
    return bytes;
}

std::optional<std::uint64_t> start_of(const Entry& entry, std::uint64_t offset) {
    if (offset < entry.first.offset || offset - entry.first.offset >= extent(entry)) {
        return std::nullopt;
    }
    std::uint64_t within = offset - entry.first.offset;
    (void)indices(entry, within);
    return within < entry.first.size ? std::optional(offset - within) : std::nullopt;
}

Register instance(const Entry& entry, std::uint64_t start) {
    Register made = entry.first;
    std::uint64_t within = start - entry.first.offset;
    const std::vector<std::uint64_t> index = indices(entry, within);
    std::string name;
    for (std::size_t i = 0; i < index.size(); ++i) {
        name += entry.series[i].prefix + label(entry.series[i], index[i]);
    }
    made.name = name + entry.first.name;
    if (!entry.prefix.empty()) {
        made.description =
            entry.prefix + made.name + (made.description.empty() ? "" : ": " + made.description);
    }
    made.offset = start;
    return made;
}

const Entry* plain(const Description& device, std::string_view name) {
    for (const Entry& entry : device.entries) {
        if (entry.series.empty() && entry.first.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

std::optional<Condition> condition(const Description& description, std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::size_t dot = std::min(text.rfind('.', equals), equals);
    const Entry* reg = plain(description, text.substr(0, dot));
    const auto value = equals == text.size() ? 0 : number(text.substr(equals + 1));
    if (reg == nullptr || !value || dot == equals) {
        return std::nullopt;
    }
    for (const Field& field : reg->first.fields) {
        if (field.name == text.substr(dot + 1, equals - dot - 1)) {
            return Condition{reg->first.offset, field.low, field.width, *value};
        }
    }
    return std::nullopt;
}

std::optional<Overlap> overlap(const Description& description) {
    std::vector<Occurrence> places;
    for (const Entry& entry : description.entries) {
        if (!entry.overlaps && !entry.when) {
            add_places(entry, 0, entry.first.offset, places);
        }
    }
    std::sort(places.begin(), places.end(),
              [](const Occurrence& a, const Occurrence& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Occurrence& a = places[i];
        for (std::size_t j = i + 1;
             j < places.size() && places[j].start < a.start + a.entry->first.size; ++j) {
            if (same_direction(*a.entry, *places[j].entry)) {
                const Occurrence& b = places[j];
                return Overlap{fmt::format("{} at {:#x} overlaps {} at {:#x}",
                                           instance(*b.entry, b.start).name, b.start,
                                           instance(*a.entry, a.start).name, a.start),
                               std::max(a.entry->line, b.entry->line)};
            }
        }
    }
    return std::nullopt;
}

namespace {

// Adds the names of `entry` from its series `depth` on; the outer ones give `start`.
bool add_names(const Entry& entry, std::size_t depth, std::uint64_t start,
               std::vector<std::string>& to) {
    if (depth == entry.series.size()) {
        to.push_back(instance(entry, start).name);
        return to.size() < most_names;
    }
    const Series& series = entry.series[depth];
    for (std::uint64_t i = 0; i < series.count; ++i) {
        if (!add_names(entry, depth + 1, start + i * series.step, to)) {
            return false;
        }
    }
    return true;
}

} // namespace

bool add_names(const Description& description, std::vector<std::string>& to) {
    for (const Entry& entry : description.entries) {
        if (!add_names(entry, 0, entry.first.offset, to)) {
            return false;
        }
    }
    return true;
}

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
