#include "registers/regs_line.hpp"

#include "registers/number.hpp"

#include <algorithm>

namespace mmioscope::registers {

namespace {

constexpr char blank = ' ';

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_name(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-' || c == '/';
    });
}

// "0..31" or "A..G".
void set_indices(const RegsLine& line, std::string_view text, Series& series) {
    const std::size_t dots = text.find("..");
    const std::string_view from = text.substr(0, dots);
    const std::string_view to = dots == std::string_view::npos ? from : text.substr(dots + 2);
    const auto letter = [](std::string_view s) {
        return s.size() == 1 && s[0] >= 'A' && s[0] <= 'Z';
    };
    if (letter(from) && letter(to) && from[0] <= to[0]) {
        for (char c = from[0]; c <= to[0]; ++c) {
            series.labels.emplace_back(1, c);
        }
        series.count = series.labels.size();
        return;
    }
    const auto first = number(from);
    const auto last = number(to);
    if (!first || !last || *first > *last || *last >= 1u << 20) {
        throw line.error("'[{}]' is not a range of indices such as [0..31] or [A..G]", text);
    }
    series.first = *first;
    series.count = *last - *first + 1;
}

} // namespace

RegsLine::RegsLine(std::string_view text, std::string_view file, unsigned number)
    : file_(file), number_(number) {
    text = text.substr(0, text.find('#'));
    text_ = text;
    std::ranges::replace_if(
        text_, [](char c) { return c == '\t' || c == '\r'; }, blank);
    const std::size_t colon = text_.find(" : ");
    if (colon != std::string::npos) {
        description_ = trimmed(std::string_view(text_).substr(colon + 3));
        text_.resize(colon);
    }
    rest_ = trimmed(text_);
}

std::string_view RegsLine::peek() const {
    return rest_.substr(0, rest_.find(blank));
}

std::string_view RegsLine::word() {
    const std::string_view found = peek();
    rest_ = trimmed(rest_.substr(found.size()));
    return found;
}

std::string_view RegsLine::need(std::string_view what) {
    const std::string_view found = word();
    if (found.empty()) {
        throw error("{} is missing", what);
    }
    return found;
}

std::uint64_t RegsLine::need_number(std::string_view what) {
    const std::string_view text = need(what);
    const auto value = number(text);
    if (!value) {
        throw error("'{}' is not a number; expected {}", text, what);
    }
    return *value;
}

void RegsLine::finish() const {
    if (!rest_.empty()) {
        throw error("'{}' is not expected here", peek());
    }
}

IndexedName indexed_name(const RegsLine& line, std::string_view text) {
    IndexedName name;
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    name.before = text.substr(0, open);
    if (open != std::string_view::npos) {
        if (close == std::string_view::npos || close < open) {
            throw line.error("'{}': ] is missing", text);
        }
        name.indexed = true;
        name.series.prefix = name.before;
        name.behind = text.substr(close + 1);
        set_indices(line, text.substr(open + 1, close - open - 1), name.series);
    }
    if (text.empty() || !is_name(name.before) || !is_name(name.behind)) {
        throw line.error("'{}' is not a name", text);
    }
    return name;
}

} // namespace mmioscope::registers
