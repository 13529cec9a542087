// How a trace file says, in its text, that `mmioscope export --to mmio` took it out of another one.
//
//   exported=WORDS          what of it this is, for people
//   exported-since=TICKS    only some of its events: CNTPCT that times are since, in decimal
//
// With the second one a number of cpu_sequence that is not there tells nothing, for it may be of an
// event that was not wanted: what was lost is in the section of losses, and all of it is the whole
// trace's.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
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

} // namespace mmioscope::trace
