// Recurring texts of a Perfetto trace: each is written once, and is a number from then on
// (InternedData of Perfetto's protocol).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mmioscope::exporting {

class PerfettoNames {
public:
    /// Each kind has its own numbers. The values are fields of InternedData.
    enum class Kind : std::uint8_t { event = 2, note = 3, text = 29 };

    /// The number of `text`. The packet must define a new one: it is in take_added().
    std::uint64_t number_of(Kind kind, std::string_view text);

    /// The definitions for the current packet, as an InternedData; empty if none. They count as
    /// written.
    std::string take_added();

    /// Call before each packet. Forgets all numbers if there are very many. Returns whether none is
    /// known; then the packet must say so.
    bool begin_packet();

private:
    static constexpr std::size_t most = 4'096;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    using Numbers = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

    Numbers& of(Kind kind);

    Numbers events_, notes_, texts_;
    std::string added_;
};

} // namespace mmioscope::exporting
