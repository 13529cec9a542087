// The previous write to the same device in the same thread.
#pragma once

#include "analysis/threads.hpp"
#include "diff/boot.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace mmioscope::diff {

class LastWrites {
public:
    /// Adds `token`, the next write of `thread` to `device`. Returns the previous one; nothing if
    /// there is none, or if it is equal.
    std::optional<Token> next(analysis::Thread thread, std::uint16_t device, Token token);

private:
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    std::unordered_map<std::uint64_t, Token> last_; ///< by thread and device
};

} // namespace mmioscope::diff
