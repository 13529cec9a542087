// What a person noted of a trace's events, in a file beside it: for each a line with the event's
// number, a tab, and the note, in the order of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace mmioscope::trace {

using Notes = std::map<std::uint64_t, std::string>; ///< by Event::number

/// A note's characters.
inline constexpr std::size_t most_of_note = 1000;

/// The file of the notes of a trace file.
std::string notes_path(const std::string& trace);

/// The notes in `path`. Throws Error (bad_input), with the line that is none.
Notes read_notes(const std::string& path);

/// Those of a trace file; none if it has no such file.
Notes notes_of(const std::string& trace);

/// Adds `more`; empty texts remove notes. Throws Error (bad_input) for a text that no note can be.
/// Others see the file as it was, or as it is then.
void change_notes(const std::string& trace, const Notes& more);

} // namespace mmioscope::trace
