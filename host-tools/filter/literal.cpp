#include "filter/literal.hpp"

#include "system/units.hpp"

#include <charconv>

namespace mmioscope::filter {

namespace {

// Removes the unit from `text`. Returns its length in nanoseconds.
std::uint64_t take_unit(std::string_view& text) {
    struct Unit {
        std::string_view name;
        std::uint64_t nanoseconds;
    };
    static constexpr Unit units[] = {
        {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
    for (const Unit& unit : units) {
        if (text.ends_with(unit.name)) {
            text.remove_suffix(unit.name.size());
            return unit.nanoseconds;
        }
    }
    return 1'000'000'000;
}

bool all_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
    if (!text.starts_with("0b")) {
        return parse_size(text);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 2);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

std::optional<std::uint64_t> parse_time(std::string_view text) {
    const std::uint64_t unit = take_unit(text);
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part =
        point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    const std::optional<std::uint64_t> number = parse_number(whole);
    if (!number || !all_digits(whole) || !all_digits(part) || text.ends_with('.') ||
        *number > UINT64_MAX / unit) {
        return std::nullopt;
    }
    std::uint64_t time = *number * unit;
    std::uint64_t digit = unit; // of the current place
    for (const char c : part) {
        digit /= 10;
        if (__builtin_add_overflow(time, digit * static_cast<unsigned>(c - '0'), &time)) {
            return std::nullopt;
        }
    }
    return time;
}

} // namespace mmioscope::filter
