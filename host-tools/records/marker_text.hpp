// The content of `marker` records (abi/control.hpp): a number, or a text that comes in pieces.
#pragma once

#include "abi/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// The number, or in quotes the text that this record has of it, at most eight characters;
/// unprintable ones as "\\x..".
std::string marker_text(const abi::Record& record);

struct Marker {
    abi::Record record; ///< of its last piece
    std::string text;   ///< as marker_text(), of all pieces; "..." behind it if its end is missing
    std::uint64_t number = 0; ///< of that piece in the trace, if it was given
};

/// Puts texts together. Their pieces have ids that follow one another, on whatever CPU, and there
/// may be other texts' between them.
class MarkerTexts {
public:
    /// The marker that is whole with `record`. None if it is a piece that another has to follow.
    std::optional<Marker> add(const abi::Record& record, std::uint64_t number = 0);

    /// Those whose end has not come.
    std::vector<Marker> open() const;

    std::size_t bytes() const; ///< of memory, about

private:
    struct Text {
        std::uint16_t next_id;
        abi::Record record;
        std::string text;
        std::uint64_t number;
    };
    static constexpr std::size_t most_open = 16; ///< pieces of more stay alone
    static constexpr std::size_t most_text = 4096;

    std::vector<Text> texts_;
};

} // namespace mmioscope::trace
