// What each thread has read from each register: a driver changes some bits of that, and writes it
// back. And which bits a register does not keep: a command, not a change.
#pragma once

#include "abi/record.hpp"
#include "analysis/threads.hpp"
#include "diff/sites.hpp"
#include "reading/kept.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace mmioscope::diff {

class LastReads {
public:
    struct Found {
        /// For a write: what the thread had last read from the register; nothing if unknown.
        std::optional<std::uint64_t> read;
        /// For a read: bits that are 0, where the thread's last write was to this register, and
        /// wrote them as 1.
        std::uint64_t unkept = 0;
    };
    /// Adds an access of `thread` at `site`. `wrote` is the site of the thread's last write before
    /// it.
    Found next(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
               std::uint32_t wrote);

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
    struct Last {
        std::optional<std::uint64_t> read;
        std::uint64_t written = 0;
        std::uint32_t site = Sites::none; ///< that wrote it
    };
    /// At this limit, forgets all of them.
    static constexpr std::size_t most = 1 << 16;

    Last& find(const Key& key);

    std::unordered_map<Key, Last, KeyHash> all_;
    Key key_;              ///< of the access before
    Last* last_ = nullptr; ///< its entry; null: there was none
};

} // namespace mmioscope::diff
