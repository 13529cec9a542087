#include "file/texts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>

namespace mmioscope::trace {

NotKnown::NotKnown(std::string_view list) {
    list = list.substr(0, list.find(';'));
    while (!list.empty()) {
        std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        name = name.substr(0, name.find('('));
        name.remove_prefix(std::min(name.size(), name.find_first_not_of(' ')));
        names_.emplace(name.substr(0, name.find_last_not_of(' ') + 1));
    }
}

std::string incomplete_line(std::string why) {
    std::ranges::replace(why, '\n', ' ');
    return why.empty() ? "" : fmt::format("{}={}\n", incomplete_key, why);
}

std::string value_in(std::string_view lines, std::string_view key) {
    const std::string begin = fmt::format("\n{}=", key);
    const bool first = lines.starts_with(std::string_view(begin).substr(1));
    const std::size_t at = first ? 0 : lines.find(begin);
    if (at == lines.npos) {
        return "";
    }
    lines.remove_prefix(at + begin.size() - (first ? 1 : 0));
    return std::string(lines.substr(0, lines.find('\n')));
}

std::string lost_others_line(const Lost& lost) {
    return lost.records == 0 || !lost.others
               ? ""
               : fmt::format("{}={}/{}\n", lost_others_key, *lost.others, lost.records);
}

Lost lost_of(std::uint64_t records, std::string_view others) {
    if (records == 0) {
        return {};
    }
    Lost lost{records, std::nullopt};
    std::uint64_t count = 0;
    const auto end = std::from_chars(others.data(), others.data() + others.size(), count);
    if (end.ec == std::errc{} && count <= records &&
        others.substr(static_cast<std::size_t>(end.ptr - others.data())) ==
            fmt::format("/{}", records)) {
        lost.others = count;
    }
    return lost;
}

namespace {

bool is_control(char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0;
}

bool is_plain(char c) {
    constexpr std::string_view others = "%+,-./:=@_";
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           others.find(c) != std::string_view::npos;
}

// A line end would end the line of the text: $'\x0a'.
std::string quoted(std::string_view word) {
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
        return std::string(word);
    }
    const bool control = std::any_of(word.begin(), word.end(), is_control);
    std::string text = control ? "$'" : "'";
    for (const char c : word) {
        if (is_control(c)) {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else if (control && (c == '\'' || c == '\\')) {
            text += {'\\', c};
        } else {
            text += c == '\'' ? "'\\''" : std::string(1, c);
        }
    }
    return text + "'";
}

} // namespace

std::string command_text(std::span<const char* const> arguments) {
    std::string text;
    for (const char* const argument : arguments) {
        text += (text.empty() ? "" : " ") + quoted(argument);
    }
    return text;
}

std::string origin_lines(const std::string& command) {
    return command.empty() ? ""
                           : fmt::format("recorded={:%FT%TZ}\nrecorded-by={}\n",
                                         fmt::gmtime(std::time(nullptr)), command);
}

} // namespace mmioscope::trace
