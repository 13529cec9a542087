// The content of `marker` records (abi/control.hpp): a number, or a text in several pieces.
#pragma once

#include "abi/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::trace {

/// The number, or the text in this record in quotes, at most eight characters; unprintable ones as
/// "\\x..".
std::string marker_text(const abi::Record& record);

struct Marker {
    abi::Record record;       ///< of the last piece
    std::string text;         ///< like marker_text(), of all pieces; ends with "..." if cut off
    std::uint64_t number = 0; ///< the last piece's number in the trace, if given
};

/// Puts texts together. The pieces of a text have consecutive ids, on any CPUs, and may alternate
/// with pieces of other texts.
class MarkerTexts {
public:
    /// The marker that `record` completes; nothing if more pieces must follow.
    std::optional<Marker> add(const abi::Record& record, std::uint64_t number = 0);

    /// The markers without an end so far.
    std::vector<Marker> open() const;

    std::size_t bytes() const; ///< approximate memory

private:
    struct Text {
        std::uint16_t next_id;
        abi::Record record;
        std::string text;
        std::uint64_t number;
    };
    static constexpr std::size_t most_open = 16; ///< pieces of further texts stay separate
    static constexpr std::size_t most_text = 4096;

    std::vector<Text> texts_;
};

} // namespace mmioscope::trace
