#include "system/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mmioscope {

std::optional<std::uint64_t> parse_number(std::string_view text) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    constexpr std::string_view suffixes = "KMGkmg";
    unsigned shift = 0;
    if (!text.empty()) {
        const std::size_t suffix = suffixes.find(text.back());
        if (suffix != std::string_view::npos) {
            shift = 10 * (static_cast<unsigned>(suffix % 3) + 1);
            text.remove_suffix(1);
        }
    }
    const std::optional<std::uint64_t> number = parse_number(text);
    if (!number || *number > UINT64_MAX >> shift) {
        return std::nullopt;
    }
    return *number << shift;
}

std::optional<std::uint64_t> parse_duration(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, double>, 7> units = {
        {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9}}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) {
        return std::nullopt;
    }
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& [name, factor] : units) {
        if (unit == name && number * factor < 9e18) {
            return static_cast<std::uint64_t>(std::llround(number * factor));
        }
    }
    return std::nullopt;
}

} // namespace mmioscope
