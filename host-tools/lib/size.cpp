#include "lib/size.hpp"

#include <charconv>

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

} // namespace mmioscope
