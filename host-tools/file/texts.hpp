// What a trace's text says of the file itself, a line "key=value" each.
//
//   recorded=TIME           when it was recorded: UTC, ISO 8601
//   recorded-by=COMMAND     by which command
//   not-known=NAMES         what it does not know: "engine, time (numbers of lines), pc; ..."
//   exported=WORDS          `mmioscope export --as mmio` took it out of another one: what of it
//                           this is, for people
//   exported-since=TICKS    and only some of its events: CNTPCT that times are since, in decimal
//
// With exported-since a number of cpu_sequence that is not there tells nothing, for it may be of an
// event that was not wanted: what was lost is in the section of losses, and all of it is the whole
// trace's.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::trace {

inline constexpr char exported_key[] = "exported";
inline constexpr char exported_since_key[] = "exported-since";

/// What the text says; nothing if the file has all events that its recorder wrote.
inline std::optional<std::uint64_t> exported_since(const std::map<std::string, std::string>& text) {
    const auto found = text.find(exported_since_key);
    std::uint64_t since = 0;
    if (found == text.end()) {
        return std::nullopt;
    }
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), since);
    return since;
}

class NotKnown {
public:
    NotKnown() = default;
    /// Names with commas between. What stands in parentheses behind one explains it; what stands
    /// behind a semicolon is not of the whole trace.
    explicit NotKnown(std::string_view list);

    bool has(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

/// Arguments, the program's name first, as one line that a shell takes for the same.
std::string command_text(std::span<const char* const> arguments);

/// Lines of a trace's text: "recorded", now, UTC in ISO 8601, and "recorded-by", the command.
/// Nothing if that is empty: nobody's.
std::string origin_lines(const std::string& command);

} // namespace mmioscope::trace
