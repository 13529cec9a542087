#include "diff/last_writes.hpp"

#include <utility>

namespace mmioscope::diff {

std::optional<Token> LastWrites::next(analysis::Thread thread, std::uint16_t device, Token token) {
    if (last_.size() == most) {
        last_.clear();
    }
    const auto [at, added] = last_.try_emplace(std::uint64_t{device} << 32 | thread, token);
    if (added || at->second == token) {
        return std::nullopt;
    }
    return std::exchange(at->second, token);
}

} // namespace mmioscope::diff
