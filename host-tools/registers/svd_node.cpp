#include "registers/svd_node.hpp"

#include "registers/number.hpp"
#include "system/escape.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace mmioscope::registers {

namespace {

constexpr unsigned longest_derivation = 8; ///< limit for a chain of derivations

struct Numbers {
    std::uint64_t first;
    std::uint64_t last;
};

// "0-3".
std::optional<Numbers> numbers(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? std::nullopt : number(text.substr(dash + 1));
    return first && last ? std::optional(Numbers{*first, *last}) : std::nullopt;
}

// "A,B,C".
std::vector<std::string> labels(std::string_view text, std::uint64_t count) {
    std::vector<std::string> found;
    while (!text.empty() && found.size() < count) {
        const std::string_view label = text.substr(0, text.find(','));
        found.push_back(one_line(label));
        text.remove_prefix(std::min(text.size(), label.size() + 1));
    }
    return found;
}

// In order.
std::vector<SvdNode> last_of_each_name(const std::vector<SvdNode>& all) {
    std::vector<SvdNode> last;
    std::unordered_set<std::string> names;
    for (auto node = all.rbegin(); node != all.rend(); ++node) {
        if (names.insert(node->name()).second) {
            last.push_back(*node);
        }
    }
    std::reverse(last.begin(), last.end());
    return last;
}

} // namespace

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!blank) {
            line += c;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    line.resize(line.find_last_not_of(' ') + 1);
    return line;
}

std::optional<std::uint64_t> svd_number(std::string_view text) {
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    const bool binary = text.starts_with('#') || text.starts_with("0b");
    if (!binary) {
        return number(text);
    }
    text.remove_prefix(text[0] == '#' ? 1 : 2);
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 2);
    return error == std::errc() && stop == text.data() + text.size() ? std::optional(value)
                                                                     : std::nullopt;
}

std::size_t SvdFile::line(std::ptrdiff_t offset) const {
    const auto end =
        std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + end, '\n'));
}

const std::string& SvdFile::around(pugi::xml_node node, const char* name) const {
    const auto [known, fresh] = around_.try_emplace({node.internal_object(), name});
    if (fresh) {
        known->second = SvdNode(*this, node).text(name);
    }
    return known->second;
}

pugi::xml_node SvdNode::base(pugi::xml_node node) const {
    const char* const name = node.attribute("derivedFrom").value();
    if (*name == 0) {
        return {};
    }
    const pugi::xml_node found = file_->bases().of(node);
    if (!found) {
        throw file_->error(node.offset_debug(), "derivedFrom=\"{}\": there is no such {}", name,
                           node.name());
    }
    return found;
}

// The element, its base, the base of that, and so on.
std::vector<pugi::xml_node> SvdNode::line_of_descent() const {
    std::vector<pugi::xml_node> line{node_};
    for (pugi::xml_node next = base(node_); next; next = base(next)) {
        if (line.size() == longest_derivation) {
            throw error("more than {} elements derived from one another", longest_derivation);
        }
        line.push_back(next);
    }
    return line;
}

pugi::xml_node SvdNode::child(const char* name) const {
    for (const pugi::xml_node node : line_of_descent()) {
        if (const pugi::xml_node found = node.child(name)) {
            return found;
        }
    }
    return {};
}

std::string SvdNode::text(const char* name) const {
    return for_terminal(one_line(child(name).child_value()));
}

std::optional<std::uint64_t> SvdNode::number(const char* name) const {
    const std::string value = text(name);
    if (value.empty()) {
        return std::nullopt;
    }
    const auto found = svd_number(value);
    if (!found) {
        throw error("<{}>: '{}' is not a number", name, value);
    }
    return found;
}

std::uint64_t SvdNode::need_number(const char* name) const {
    const auto found = number(name);
    if (!found) {
        throw error("<{}> without <{}>", kind(), name);
    }
    return *found;
}

std::string SvdNode::inherited(const char* name) const {
    std::string found = text(name);
    for (pugi::xml_node node = node_.parent(); node && found.empty(); node = node.parent()) {
        found = file_->around(node, name);
    }
    return found;
}

std::vector<SvdNode> SvdNode::children(const char* list, std::string_view kind,
                                       std::string_view other_kind) const {
    std::vector<SvdNode> found;
    std::vector<pugi::xml_node> line = line_of_descent();
    std::reverse(line.begin(), line.end());
    for (const pugi::xml_node node : line) {
        for (const pugi::xml_node child : (list == nullptr ? node : node.child(list)).children()) {
            const std::string_view what = child.name();
            if (what != kind && (what != other_kind || other_kind.empty())) {
                continue;
            }
            found.emplace_back(*file_, child);
        }
    }
    return line.size() > 1 ? last_of_each_name(found) : found;
}

std::string SvdNode::name() const {
    return one_line(node_.child_value("name"));
}

std::optional<Series> SvdNode::series(std::string_view name) const {
    const auto count = number("dim");
    const std::size_t at = name.find("%s");
    if (!count || at == std::string_view::npos) {
        return std::nullopt;
    }
    if (*count == 0 || *count > 1u << 20) {
        throw error("<dim>: {} is too many or too few", *count);
    }
    Series series;
    series.count = *count;
    series.step = need_number("dimIncrement");
    series.prefix = name.substr(0, at - (at > 0 && name[at - 1] == '[' ? 1 : 0));
    const std::string index = text("dimIndex");
    if (const auto range = numbers(index)) {
        if (range->last < range->first || range->last - range->first != *count - 1) {
            throw error("<dimIndex>: '{}' is not a range of {} numbers", index, *count);
        }
        series.first = range->first;
    } else {
        series.labels = labels(index, *count);
    }
    return series;
}

} // namespace mmioscope::registers
