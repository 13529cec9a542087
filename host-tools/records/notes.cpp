#include "records/notes.hpp"

#include "system/error.hpp"
#include "system/escape.hpp"
#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"
#include "system/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>

namespace mmioscope::trace {

namespace {

/// Why `text` is no note; null: it is one.
const char* wrong_with(std::string_view text) {
    const auto begins = [](char c) { return (c & 0xc0) != 0x80; }; // a character of UTF-8
    return for_terminal(text) != text ? "has control characters, or is not UTF-8"
           : static_cast<std::size_t>(std::ranges::count_if(text, begins)) > most_of_note
               ? "is longer than 1000 characters"
               : nullptr;
}

} // namespace

std::string notes_path(const std::string& trace) {
    return trace + ".notes";
}

Notes read_notes(const std::string& path) {
    Notes notes;
    std::istringstream file(whole_file(path, "file of notes"));
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        const std::size_t tab = std::min(line.find('\t'), line.size());
        const std::uint64_t event = parse_number(line.substr(0, tab)).value_or(0);
        const std::string text = line.substr(std::min(tab + 1, line.size()));
        const char* const wrong = event == 0     ? "does not begin with an event's number"
                                  : text.empty() ? "has no tab, or no text behind it"
                                  : !notes.empty() && event <= notes.rbegin()->first
                                      ? "is not in the order of numbers"
                                      : wrong_with(text);
        if (wrong != nullptr) {
            throw bad_input("{}: line {} {}", path, number, wrong);
        }
        notes.emplace(event, text);
    }
    return notes;
}

Notes notes_of(const std::string& trace) {
    const std::string path = notes_path(trace);
    std::error_code none; // a name may be too long for a file beside it
    return std::filesystem::is_regular_file(path, none) ? read_notes(path) : Notes();
}

void change_notes(const std::string& trace, const Notes& more) {
    ReplacedFile file(notes_path(trace)); // locks the old one before it is read
    Notes notes = notes_of(trace);
    std::string lines;
    for (const auto& [number, text] : more) {
        if (const char* const wrong = wrong_with(text)) {
            throw bad_input("the note of event {} {}", number, wrong);
        }
        notes[number] = text;
    }
    for (const auto& [number, text] : notes) {
        lines += text.empty() ? "" : fmt::format("{}\t{}\n", number, text);
    }
    append(file.fd(), std::as_bytes(std::span(lines)), "notes");
    file.commit();
}

} // namespace mmioscope::trace
