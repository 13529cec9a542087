#include "reading/variables.hpp"

#include <algorithm>
#include <string_view>

namespace mmioscope::reading {

const Register* Variables::find(std::uint32_t va, std::uint64_t offset) {
    constexpr std::string_view types = "bBdDrRvVsSgG"; // as in nm
    constexpr std::uint32_t largest = 1u << 20;        // the last one has no end
    if (!symbols_) {
        return nullptr;
    }
    const auto addresses = symbols_->addresses();
    const auto behind = std::ranges::upper_bound(addresses, va);
    if (behind == addresses.begin() || va - behind[-1] >= largest || va - behind[-1] > offset) {
        return nullptr;
    }
    const std::uint32_t begin = behind[-1];
    const auto [at, fresh] = known_.try_emplace(begin);
    for (auto one = std::ranges::lower_bound(addresses, begin); fresh && one != behind; ++one) {
        const symbols::Symbol symbol =
            symbols_->symbol(static_cast<std::size_t>(one - addresses.begin()));
        if (at->second.name.empty() && types.find(symbol.type) != std::string_view::npos) {
            const std::uint32_t size = behind == addresses.end() ? largest : *behind - begin;
            at->second = {symbol.name, offset - (va - begin), std::min(size, largest), "", {}};
        }
    }
    return at->second.name.empty() ? nullptr : &at->second;
}

} // namespace mmioscope::reading
