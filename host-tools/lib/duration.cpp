#include "lib/duration.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mmioscope {

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
