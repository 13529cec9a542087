#include "registers/svd_node.hpp"

#include "system/escape.hpp"

#include <algorithm>

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

// "A,B,C" or "A-C".
std::vector<std::string> labels(std::string_view text, std::uint64_t count) {
    std::vector<std::string> found;
    if (text.size() == 3 && text[1] == '-' && text[0] <= text[2]) {
        for (char c = text[0]; c <= text[2] && found.size() < count; ++c) {
            found.emplace_back(1, c);
        }
        return found;
    }
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
    const auto masked = svd_masked(text);
    return masked && masked->any == 0 ? std::optional(masked->value) : std::nullopt;
}

std::optional<Masked> svd_masked(std::string_view text) {
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    const std::size_t prefix = text.starts_with('#')                              ? 1
                               : text.starts_with("0b") || text.starts_with("0B") ? 2
                                                                                  : 0;
    if (prefix == 0) {
        const auto value = number(text);
        return value ? std::optional(Masked{*value, 0}) : std::nullopt;
    }
    text.remove_prefix(prefix);
    if (text.empty() || text.size() > 64 || text.find_first_not_of("01xX") != text.npos) {
        return std::nullopt;
    }
    Masked found;
    for (const char c : text) {
        found.value = found.value << 1 | (c == '1' ? 1 : 0);
        found.any = found.any << 1 | (c == 'x' || c == 'X' ? 1 : 0);
    }
    return found;
}

std::size_t SvdFile::line(std::ptrdiff_t offset) const {
    if (lines_.empty()) {
        lines_.push_back(0);
        for (std::size_t at = 0; (at = text_.find('\n', at)) != text_.npos; ++at) {
            lines_.push_back(static_cast<std::ptrdiff_t>(at) + 1);
        }
    }
    const auto next = std::upper_bound(lines_.begin() + 1, lines_.end(), offset);
    return static_cast<std::size_t>(next - lines_.begin());
}

void SvdFile::leave_out(const Error& why) const {
    if (left_out_.count++ == 0) {
        left_out_.first = why.what();
    }
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
    if (!found && file_->is_new(node)) {
        file_->leave_out(file_->error(
            node.offset_debug(), "derivedFrom=\"{}\": there is no such {}", name, node.name()));
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

std::vector<SvdNode> SvdNode::own_or_inherited(const char* kind) const {
    std::vector<SvdNode> found;
    for (const pugi::xml_node node : line_of_descent()) {
        for (const pugi::xml_node child : node.children(kind)) {
            found.emplace_back(*file_, child);
        }
        if (!found.empty()) {
            break;
        }
    }
    return found;
}

std::string SvdNode::name() const {
    return for_terminal(one_line(node_.child_value("name")));
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
    bool fits = true;
    if (const auto range = numbers(index)) {
        fits = range->first <= range->last && range->last - range->first == *count - 1;
        series.first = range->first;
    } else if (!index.empty()) {
        series.labels = labels(index, *count);
        fits = series.labels.size() == *count;
    }
    if (!fits && file_->is_new(node_)) {
        file_->leave_out(error("<dimIndex>: '{}' does not have {} indices", index, *count));
    }
    return series;
}

namespace {

constexpr std::size_t longest_array_name = 64; ///< limit for names of elements of arrays
constexpr std::size_t longest_index = 8;       ///< likewise, of the part that numbers them

bool is_index(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
}

// "R[%s]_X" as "R", "_X".
std::pair<std::string, std::string> around_index(const std::string& name) {
    const std::size_t at = name.find("%s");
    const bool brackets = at > 0 && name[at - 1] == '[' && name.compare(at + 2, 1, "]") == 0;
    return {name.substr(0, at - brackets), name.substr(at + 2 + brackets)};
}

} // namespace

pugi::xml_node SvdBases::of(pugi::xml_node node) {
    const auto [base, fresh] = bases_.try_emplace(node.internal_object());
    if (fresh) {
        base->second = find(node);
    }
    return base->second;
}

pugi::xml_node SvdBases::find(pugi::xml_node node) {
    const std::string_view path = node.attribute("derivedFrom").value();
    pugi::xml_node found;
    for (pugi::xml_node scope = node.parent(); scope && !found; scope = scope.parent()) {
        found = inside(scope, node.name(), path);
        found = found == node ? pugi::xml_node() : found;
    }
    return found;
}

pugi::xml_node SvdBases::inside(pugi::xml_node scope, std::string_view kind,
                                std::string_view path) {
    for (std::size_t dot; scope && (dot = path.find('.')) != path.npos;) {
        scope = step(scope, path.substr(0, dot));
        path.remove_prefix(dot + 1);
    }
    if (!scope) {
        return {};
    }
    if (kind == "enumeratedValues") {
        return values(scope, path);
    }
    for (const char* list : {"", "registers", "fields"}) {
        if (const auto found = named(*list == 0 ? scope : scope.child(list), kind, path)) {
            return found;
        }
    }
    return {};
}

pugi::xml_node SvdBases::step(pugi::xml_node from, std::string_view name) {
    for (const char* list : {"", "registers", "fields"}) {
        const pugi::xml_node in = *list == 0 ? from : from.child(list);
        for (const char* kind : {"peripheral", "cluster", "register", "field"}) {
            if (const pugi::xml_node found = named(in, kind, name)) {
                return found;
            }
        }
    }
    return {};
}

// The first one with this name; else the array that has an element with it.
pugi::xml_node SvdBases::named(pugi::xml_node in, std::string_view kind, std::string_view name) {
    const auto [known, fresh] = lists_.try_emplace(in.internal_object());
    List& list = known->second;
    if (fresh) {
        for (const pugi::xml_node child : in.children()) {
            const std::string own = one_line(child.child_value("name"));
            list.named.try_emplace({child.name(), own}, child);
            if (own.find("%s") != own.npos) {
                const auto [before, behind] = around_index(own);
                list.arrays[{child.name(), before}].try_emplace(behind, child);
            }
        }
    }
    const auto found = list.named.find({std::string(kind), std::string(name)});
    if (found != list.named.end()) {
        return found->second;
    }
    if (list.arrays.empty() || name.size() > longest_array_name) {
        return {};
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto array = list.arrays.find({std::string(kind), std::string(name.substr(0, at))});
        for (std::size_t length = 1;
             array != list.arrays.end() && length <= longest_index && at + length <= name.size();
             ++length) {
            const auto element = array->second.find(std::string(name.substr(at + length)));
            if (element != array->second.end() && is_index(name.substr(at, length))) {
                return element->second;
            }
        }
    }
    return {};
}

// In the order of the file: lists of values by their own name, then by their field's.
pugi::xml_node SvdBases::values(pugi::xml_node scope, std::string_view name) {
    const auto [known, fresh] = values_.try_emplace(scope.internal_object());
    Values& all = known->second;
    if (fresh) {
        struct Walker : pugi::xml_tree_walker {
            bool for_each(pugi::xml_node& node) override {
                if (std::string_view(node.name()) == "enumeratedValues") {
                    own.try_emplace(one_line(node.child_value("name")), node);
                    fields.try_emplace(one_line(node.parent().child_value("name")), node);
                }
                return true;
            }
            Values own;
            Values fields;
        } walker;
        scope.traverse(walker);
        all = std::move(walker.own);
        all.erase("");
        all.merge(walker.fields);
    }
    const auto found = all.find(std::string(name));
    return found == all.end() ? pugi::xml_node() : found->second;
}

} // namespace mmioscope::registers
