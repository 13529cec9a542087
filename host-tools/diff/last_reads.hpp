// What each thread has read from each register: a driver changes some bits of that, and writes it
// back.
#pragma once

#include "abi/record.hpp"
#include "analysis/threads.hpp"
#include "reading/kept.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace mmioscope::diff {

class LastReads {
public:
    /// Adds a read. For a write, returns what `thread` has last read from that register; nothing if
    /// that is unknown.
    std::optional<std::uint64_t> next(analysis::Thread thread, const abi::Record& record);

private:
    struct Key {
        std::uint64_t address = 0;
        analysis::Thread thread = 0;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reading::mixed(key.address ^ std::uint64_t{key.thread} << 32) >> 20;
        }
    };
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    std::unordered_map<Key, std::uint64_t, KeyHash> last_;
};

} // namespace mmioscope::diff
