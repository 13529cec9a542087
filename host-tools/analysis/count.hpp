// Accesses counted by what they have in common. Memory grows with the number of different things,
// not with that of events.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::analysis {

enum class Key { device, reg, function, caller, task, cpu, interrupt, size };

/// "device", "register", ...: what --by takes.
std::string_view key_text(Key key);
const std::vector<Key>& all_keys();

/// The words of all keys.
std::vector<std::string> key_words();

/// What was done to one thing.
struct Count {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t least = ~std::uint64_t{0}; ///< value, of those that are known
    std::uint64_t most = 0;
    std::uint64_t first = 0; ///< ns
    std::uint64_t last = 0;
    std::uint64_t duration = 0; ///< ticks, of all together
    std::uint32_t longest = 0;  ///< ticks

    std::uint64_t accesses() const { return reads + writes; }
    bool has_values() const { return least <= most; }
    void add(const Event& event);
};

class Counts {
public:
    explicit Counts(Key key) : key_(key) {}

    /// Accesses; of other records only interrupts, where those are counted.
    void add(const Event& event);

    Key key() const { return key_; }
    const std::map<std::string, Count, std::less<>>& all() const { return counts_; }

private:
    Key key_;
    std::string name_; ///< kept, so that an event costs no memory
    std::map<std::string, Count, std::less<>> counts_;
};

} // namespace mmioscope::analysis
