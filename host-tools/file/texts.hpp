// What a trace's text says about the file itself, one line "key=value" each.
//
//   recorded=TIME           when it was recorded: UTC, ISO 8601
//   recorded-by=COMMAND     the command that recorded it
//   not-known=NAMES         what it does not know: "engine, time (numbers of lines), pc; ..."
//   incomplete=WHY          why the recording is incomplete although no record is known to be lost
//   lost-others=COUNT/ALL   COUNT of ALL lost records were no accesses. Without it, or if the files
//                           that are read have lost another number, it is not known how many
//   exported=WORDS          `mmioscope export --as mmio` made it from another trace: which part,
//                           for people
//   exported-since=TICKS    and only some of its events: CNTPCT at time 0, in decimal
//
// With exported-since, a gap in cpu_sequence is not a loss: it may be an event that was not
// selected. The section of losses has what was lost, all of it from the whole trace.
#pragma once

#include "file/file_writer.hpp"
#include "records/losses.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

inline constexpr char incomplete_key[] = "incomplete";
inline constexpr char lost_others_key[] = "lost-others";
inline constexpr char exported_key[] = "exported";
inline constexpr char exported_since_key[] = "exported-since";

/// The value of exported-since; nothing if the file has all events of its recorder.
inline std::optional<std::uint64_t> exported_since(const std::map<std::string, std::string>& text) {
    const auto found = text.find(exported_since_key);
    std::uint64_t since = 0;
    if (found == text.end()) {
        return std::nullopt;
    }
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), since);
    return since;
}

/// A line for a trace's text; empty if `why` is empty.
std::string incomplete_line(std::string why);

/// The value of `key` in `lines`; empty: none.
std::string value_in(std::string_view lines, std::string_view key);

/// A line for a trace's text; empty if nothing is lost, or if it is not known of which kinds.
std::string lost_others_line(const Lost& lost);

/// What is lost if that is `records`; `others`: the value of lost-others, or empty.
Lost lost_of(std::uint64_t records, std::string_view others);

class NotKnown {
public:
    NotKnown() = default;
    /// Names separated by commas. Text in parentheses explains a name; text after a semicolon does
    /// not apply to the whole trace.
    explicit NotKnown(std::string_view list);

    bool has(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

/// The arguments, beginning with the program's name, as one line that a shell splits into the same
/// arguments.
std::string command_text(std::span<const char* const> arguments);

/// Lines for a trace's text: "recorded", the current time in UTC, ISO 8601, and "recorded-by", the
/// command. Empty if the command is empty.
std::string origin_lines(const std::string& command);

// What a recorder knows about the guest before the first record.

/// Functions of the guest's kernel by address: lines as in /proc/kallsyms, compressed with zstd.
inline constexpr abi::SectionType symbols_section{11};

/// How the frames of its functions are undone: symbols::UnwindTable::bytes(). Only in a trace with
/// stacks.
inline constexpr abi::SectionType frames_section{17};

struct About {
    std::string lines;              ///< "key=value"
    std::vector<std::byte> symbols; ///< payload of symbols_section; empty: none
    std::vector<std::byte> tree;    ///< the board's device tree, for streams that only have aliases
    std::vector<std::byte> frames{}; ///< payload of frames_section; empty: none
};

inline void write_about(FileWriter& file, const About& about) {
    file.text(about.lines);
    if (!about.symbols.empty()) {
        file.section(symbols_section, about.symbols);
    }
    if (!about.frames.empty()) {
        file.section(frames_section, about.frames);
    }
}

} // namespace mmioscope::trace
