// Texts of a Perfetto trace that come again and again: each is written once, and called by a number
// from then on (InternedData of Perfetto's protocol).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mmioscope::exporting {

class PerfettoNames {
public:
    /// Numbers of one kind are those of that kind alone; the values are fields of InternedData.
    enum class Kind : std::uint8_t { event = 2, note = 3, text = 29 };

    /// The number of `text`; if it is new, its packet has to tell it: it is in added().
    std::uint64_t number_of(Kind kind, std::string_view text);

    /// What the packet that is being made has to tell, as an InternedData; empty: nothing. It is
    /// told then.
    std::string take_added();

    /// In front of a packet: forgets all numbers if there are very many. Whether none is known: the
    /// packet has to say so.
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
