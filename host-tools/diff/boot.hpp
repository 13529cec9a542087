// What one boot did, as far as boots are compared. It grows with what is different, not with the
// number of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::diff {

/// Of one site.
struct Use {
    /// More different values than this are data.
    static constexpr std::size_t most_values = 32;

    struct Value {
        std::uint64_t value = 0;
        std::uint64_t count = 0; ///< accesses
        std::uint64_t first = 0; ///< number of the first one's event
    };

    std::uint64_t count = 0;   ///< accesses
    std::uint64_t first = 0;   ///< number of the first one's event
    std::vector<Value> values; ///< the first ones
    bool many = false;         ///< there are more
    std::uint64_t ones = 0;    ///< bits that were 1 in some value
    std::uint64_t zeros = 0;   ///< bits that were 0 in some value
    std::uint64_t last = 0;    ///< value
    bool one_bit = true;       ///< no value has more than one bit that the one before it had not
};

/// A site of Sites with one of its Use::values.
struct Token {
    static constexpr std::uint32_t any = Use::most_values; ///< in place of a value: another one

    std::uint32_t site = 0;
    std::uint32_t value = any; ///< index in Use::values
    auto operator<=>(const Token&) const = default;
};

/// A comparison and a profile have at most so many: a small file does not become large in memory.
inline constexpr std::size_t most_boots = 100;

struct Boot {
    /// More pairs are not compared.
    static constexpr std::size_t most_pairs = 1 << 18;

    std::string name;  ///< of its file
    std::string build; ///< of its kernel; empty: not known
    std::uint64_t accesses = 0;
    std::uint64_t left_out = 0; ///< accesses of which a table was too full
    std::vector<Use> uses;      ///< by the number of the site
    /// Writes to one device, one directly behind the other in the same thread, and how often.
    std::map<std::pair<Token, Token>, std::uint64_t> pairs;

    bool has(std::uint32_t site) const { return site < uses.size() && uses[site].count > 0; }
};

} // namespace mmioscope::diff
