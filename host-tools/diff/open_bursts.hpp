// Finds bursts: writes of one thread to one register, with no other access of that thread to the
// device between them. A packet in a FIFO is one.
#pragma once

#include "analysis/threads.hpp"
#include "diff/boot.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mmioscope::diff {

class OpenBursts {
public:
    explicit OpenBursts(Boot& boot) : boot_(boot) {}

    /// Adds the next access of `thread`, number `event` of the trace. A burst that it ends is
    /// counted in the boot; one that the trace ends is not.
    void add(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
             std::uint64_t event);

private:
    struct Word {
        std::uint32_t site = 0;
        std::uint64_t value = 0;
    };
    struct Open {
        std::uint64_t address = 0;
        std::uint64_t first = 0;
        std::uint32_t length = 0;
        std::vector<Word> words; ///< the first Burst::most_words
    };

    /// At this limit, forgets threads that are in no burst; if none, all of them.
    static constexpr std::size_t most = 1 << 10;

    Open& opened(std::uint64_t key);
    void end(Open& open);

    Boot& boot_;
    std::unordered_map<std::uint64_t, Open> open_; ///< by thread and device
};

} // namespace mmioscope::diff
