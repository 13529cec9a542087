// Markers by which the guest itself tells where its modules lie, if nobody reads its memory: one
// for each module (`mmioscope-guest ctl modules`). Its text is
//
//   module: NAME 0xBASE SIZE
//
// BASE is as in /proc/modules, in hexadecimal. SIZE, in decimal, is the number of bytes up to the
// module's end or the next one's base. Anybody can set a marker: a text that is not exactly this is
// just a marker.
#pragma once

#include "abi/record.hpp"
#include "records/module_table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

/// The marker's text. `size`: see most_module_size.
std::string module_mark(std::string_view name, std::uint32_t base, std::uint32_t size);

/// Limit for a module's size: twice the range of a branch in the kernel.
inline constexpr std::uint32_t most_module_size = 64u << 20;

/// The module that `marker`, a text from MarkerTexts, describes, known from `time` on.
std::optional<LoadedModule> module_of_mark(std::string_view marker, std::uint64_t time);

/// Recognises the pieces of such a text, record by record, for code that must leave them out.
class ModuleMarks {
public:
    /// Whether `record` is a piece of one.
    bool has(const abi::Record& record);

private:
    static constexpr std::size_t most_open = 64; // several programs may set markers at a time

    std::vector<std::uint16_t> next_ids_;
};

// The content of `marker` records (abi/control.hpp): a number, or a text in several pieces.

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
