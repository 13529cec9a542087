// The write in front of each write: on the same device, in the same thread.
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
    /// `token` is the next write of `thread` to `device`. Returns the one before it; nothing if
    /// there is none, or it was the same.
    std::optional<Token> next(analysis::Thread thread, std::uint16_t device, Token token);

private:
    /// If there are more, all are forgotten.
    static constexpr std::size_t most = 1 << 16;

    std::unordered_map<std::uint64_t, Token> last_; ///< by thread and device
};

} // namespace mmioscope::diff
