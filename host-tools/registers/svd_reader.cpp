#include "registers/description.hpp"

#include "registers/svd_node.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace mmioscope::registers {

namespace {

constexpr std::size_t deepest_cluster = 4; ///< limit for nested clusters
constexpr unsigned most_any_bits = 8;      ///< limit for "don't care" bits of a value

/// Calls `read`. What it cannot use is left out, and the rest of the file is read.
template <typename Read>
void leave_out_if_bad(const SvdFile& file, Read&& read) {
    try {
        read();
    } catch (const SvdQuota::Exceeded&) {
        throw;
    } catch (const Error& error) {
        file.leave_out(error);
    }
}

/// What the enclosing clusters add to a register.
struct Around {
    std::uint64_t offset = 0;
    std::string text; ///< part of names after the last index
    std::vector<Series> series;
};

// The part after the index, as in "CH[%s]_CTRL".
std::string behind_index(std::string_view name) {
    name.remove_prefix(name.find("%s") + 2);
    name.remove_prefix(name.starts_with(']') ? 1 : 0);
    return std::string(name);
}

/// `around` with the series and name of `node` added.
Around inside(const SvdNode& node, Around around, const char* between, SvdQuota& quota) {
    const std::string name = node.name();
    if (name.empty()) {
        throw node.error("<{}> without a name", node.kind());
    }
    const std::uint64_t offset = node.need_number("addressOffset");
    around.offset += std::min(offset, address_space);
    if (auto series = node.series(name)) {
        quota.entries(node, series->labels.size());
        series->prefix = around.text + series->prefix;
        around.series.push_back(std::move(*series));
        around.text = behind_index(name) + between;
    } else {
        around.text += name + between;
    }
    quota.text(node, around.text.size());
    return around;
}

void read_bits(const SvdNode& node, Field& field) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    const std::string range = node.text("bitRange");
    if (!range.empty()) {
        const std::size_t colon = range.find(':');
        const auto to = svd_number(std::string_view(range).substr(1, colon - 1));
        const auto from = svd_number(std::string_view(range).substr(
            std::min(colon + 1, range.size()), range.size() - std::min(colon + 2, range.size())));
        if (range.front() != '[' || range.back() != ']' || colon == std::string::npos || !to ||
            !from) {
            throw node.error("<bitRange>: '{}' is not [high:low]", range);
        }
        low = *from;
        high = *to;
    } else if (const auto lsb = node.number("lsb")) {
        low = *lsb;
        high = node.need_number("msb");
    } else {
        low = node.need_number("bitOffset");
        high = std::min<std::uint64_t>(low, 64) + node.number("bitWidth").value_or(1) - 1;
    }
    if (low > high || high > 63) {
        throw node.error("field '{}' has bits {} to {}", node.name(), low, high);
    }
    field.low = static_cast<unsigned>(low);
    field.width = static_cast<unsigned>(high - low + 1);
}

// Names all numbers that the patterns stand for, and that have no name yet.
void add_patterns(Field& field, const std::vector<std::pair<Masked, std::string>>& patterns) {
    std::unordered_set<std::uint64_t> named;
    for (const auto& value : field.values) {
        named.insert(value.first);
    }
    for (const auto& [pattern, name] : patterns) {
        std::uint64_t bits = 0;
        do {
            if (named.insert(pattern.value | bits).second) {
                field.values.emplace_back(pattern.value | bits, name);
            }
            bits = (bits - pattern.any) & pattern.any; // the next subset of `any`
        } while (bits != 0);
    }
}

/// The names that `list` gives to values, exact ones first. Without the default, which names no
/// single value.
void read_list(const SvdFile& file, const SvdNode& list, Field& field, SvdQuota& quota) {
    std::vector<std::pair<Masked, std::string>> patterns;
    for (const SvdNode& value : list.children(nullptr, "enumeratedValue")) {
        leave_out_if_bad(file, [&] {
            const std::string text = value.text("value");
            const std::string name = value.name();
            if (text.empty() || name.empty()) {
                quota.fields(value, 1);
                return;
            }
            const auto masked = svd_masked(text);
            if (!masked) {
                throw value.error("<value>: '{}' is not a number", text);
            }
            const auto any = static_cast<unsigned>(std::popcount(masked->any));
            if (any > most_any_bits) {
                throw value.error("<value>: '{}' stands for too many numbers", text);
            }
            quota.fields(value, std::size_t{1} << any);
            if (any == 0) {
                field.values.emplace_back(masked->value, name);
            } else {
                patterns.emplace_back(*masked, name);
            }
        });
    }
    if (!patterns.empty()) {
        add_patterns(field, patterns);
    }
}

bool is_for(const SvdNode& list, Direction direction) {
    const std::string usage = list.text("usage");
    return usage.empty() || usage == "read-write" || direction == Direction::both ||
           (usage == "write") == (direction == Direction::write);
}

void read_values(const SvdFile& file, const SvdNode& node, Direction direction, Field& field,
                 SvdQuota& quota) {
    for (const SvdNode& list : node.own_or_inherited("enumeratedValues")) {
        if (is_for(list, direction)) {
            read_list(file, list, field, quota);
        }
    }
}

/// Whether a field of the register has other names in what is read than in what is written.
bool has_names_by_direction(const std::vector<SvdNode>& fields) {
    return std::ranges::any_of(fields, [](const SvdNode& field) {
        const auto lists = field.own_or_inherited("enumeratedValues");
        return std::ranges::any_of(lists, [](const SvdNode& list) {
            return !is_for(list, Direction::read) || !is_for(list, Direction::write);
        });
    });
}

std::size_t characters(const Field& field) {
    std::size_t count = field.name.size();
    for (const auto& value : field.values) {
        count += value.second.size();
    }
    return count;
}

void read_field(const SvdFile& file, const SvdNode& node, Direction direction,
                unsigned register_bits, std::vector<Field>& to, SvdQuota& quota) {
    Field field;
    field.name = node.name();
    read_bits(node, field);
    read_values(file, node, direction, field, quota);
    const auto series = node.series(field.name);
    const std::string behind = series ? behind_index(field.name) : "";
    const std::uint64_t count = series ? series->count : 1;
    if (count > 1 && series->step == 0) {
        throw node.error("field '{}' occurs {} times at the same bits", field.name, count);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t low =
            field.low + (series ? i * std::min<std::uint64_t>(series->step, 64) : 0);
        if (low + field.width > register_bits) {
            throw node.error("field '{}' is beyond the {} bits of its register", field.name,
                             register_bits);
        }
        quota.fields(node, 1 + field.values.size());
        quota.text(node, characters(field));
        Field one = field;
        one.low = static_cast<unsigned>(low);
        if (series) {
            one.name = series->prefix + label(*series, i) + behind;
        }
        to.push_back(std::move(one));
    }
}

Direction direction_of(const std::string& access) {
    if (access == "read-only") {
        return Direction::read;
    }
    return access == "write-only" || access == "writeOnce" ? Direction::write : Direction::both;
}

/// The register with the names of values for `direction`.
Entry read_register(const SvdFile& file, const SvdNode& node, const Around& clusters,
                    const std::vector<SvdNode>& fields, Direction direction, SvdQuota& quota) {
    Around here = inside(node, clusters, "", quota);
    Entry entry;
    entry.first.name = here.text;
    entry.first.offset = here.offset;
    entry.series = std::move(here.series);
    entry.first.description = node.text("description");
    quota.text(node, entry.first.description.size());
    const std::string size = node.inherited("size");
    const auto bits = size.empty() ? std::optional<std::uint64_t>(32) : svd_number(size);
    if (!bits || *bits == 0 || *bits > 64) {
        throw node.error("register '{}' has '{}' bits", node.name(), size);
    }
    entry.first.size = static_cast<unsigned>((*bits + 7) / 8);
    entry.direction = direction;
    entry.overlaps =
        !node.text("alternateRegister").empty() || !node.text("alternateGroup").empty();
    std::uint64_t end = std::min(entry.first.offset, address_space);
    for (const Series& series : entry.series) {
        end += std::min(series.step, address_space) * (series.count - 1);
    }
    if (end >= address_space) {
        throw node.error("register '{}' is beyond 40 bits of address", node.name());
    }
    for (const SvdNode& field : fields) {
        leave_out_if_bad(file, [&] {
            read_field(file, field, direction, entry.first.size * 8, entry.first.fields, quota);
        });
    }
    return entry;
}

/// Adds the register; twice if the names of its values depend on the direction.
void add_register(const SvdFile& file, const SvdNode& node, const Around& clusters,
                  std::vector<Entry>& to, SvdQuota& quota) {
    const std::vector<SvdNode> fields = node.children("fields", "field");
    const Direction direction = direction_of(node.inherited("access"));
    if (direction != Direction::both || !has_names_by_direction(fields)) {
        to.push_back(read_register(file, node, clusters, fields, direction, quota));
        return;
    }
    quota.entries(node, 1);
    to.push_back(read_register(file, node, clusters, fields, Direction::read, quota));
    to.push_back(read_register(file, node, clusters, fields, Direction::write, quota));
}

void read_registers(const SvdFile& file, const std::vector<SvdNode>& nodes, const Around& clusters,
                    std::size_t depth, std::vector<Entry>& to, SvdQuota& quota) {
    for (const SvdNode& node : nodes) {
        quota.entries(node, 1);
        leave_out_if_bad(file, [&] {
            if (depth > deepest_cluster) {
                throw node.error("more than {} nested clusters", deepest_cluster);
            }
            if (node.kind() == "register") {
                add_register(file, node, clusters, to, quota);
            } else {
                read_registers(file, node.children(nullptr, "register", "cluster"),
                               inside(node, clusters, "_", quota), depth + 1, to, quota);
            }
        });
    }
}

/// A peripheral, or an array of them.
void read_peripheral(const SvdFile& file, const SvdNode& node, const std::string& where,
                     std::vector<Description>& to, SvdQuota& quota) {
    const SvdQuota before = quota;
    Description one;
    one.name = node.name();
    one.title = node.text("description");
    one.address = node.need_number("baseAddress");
    one.where = where;
    quota.text(node, one.title.size());
    const auto series = node.series(one.name);
    read_registers(file, node.children("registers", "register", "cluster"), {}, 0, one.entries,
                   quota);
    if (!series) {
        to.push_back(std::move(one));
        return;
    }
    const std::string behind = behind_index(one.name);
    const SvdQuota after = quota;
    for (std::uint64_t i = 0; i < series->count; ++i) {
        quota.entries(node, 1);
        if (i != 0) {
            quota.repeat(node, before, after);
        }
        to.push_back(one);
        to.back().name = series->prefix + label(*series, i) + behind;
        to.back().address += i * series->step;
    }
}

} // namespace

std::vector<Description> read_svd(std::string_view text, const std::string& name,
                                  LeftOut& left_out) {
    const SvdFile file(text, name);
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
    if (!result) {
        throw file.error(result.offset, "{}", result.description());
    }
    const pugi::xml_node root = document.child("device").child("peripherals");
    if (!root) {
        throw file.error(0, "this is not an SVD file: <device> with <peripherals> is missing");
    }
    std::vector<Description> found;
    SvdQuota quota;
    for (const pugi::xml_node element : root.children("peripheral")) {
        leave_out_if_bad(file, [&] { read_peripheral(file, {file, element}, name, found, quota); });
    }
    if (found.empty() && file.left_out().count != 0) {
        throw bad_input("{}", file.left_out().first);
    }
    left_out = file.left_out();
    return found;
}

} // namespace mmioscope::registers
