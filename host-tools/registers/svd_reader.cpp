#include "registers/svd_reader.hpp"

#include "registers/svd_node.hpp"
#include "registers/svd_quota.hpp"

#include <algorithm>

namespace mmioscope::registers {

namespace {

constexpr std::size_t deepest_cluster = 4; ///< limit for nested clusters

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

// Skips the default and values with "don't care" bits, which do not name a single value.
void read_values(const SvdNode& node, Field& field, SvdQuota& quota) {
    for (const SvdNode& list : node.children(nullptr, "enumeratedValues")) {
        for (const SvdNode& value : list.children(nullptr, "enumeratedValue")) {
            quota.fields(value, 1);
            const std::string text = value.text("value");
            const std::string name = value.name();
            const bool care = text.find('x', text.starts_with("0x") ? 2 : 0) == std::string::npos;
            if (text.empty() || name.empty() || !care) {
                continue;
            }
            const auto number = svd_number(text);
            if (!number) {
                throw value.error("<value>: '{}' is not a number", text);
            }
            field.values.emplace_back(*number, name);
        }
    }
}

std::size_t characters(const Field& field) {
    std::size_t count = field.name.size();
    for (const auto& value : field.values) {
        count += value.second.size();
    }
    return count;
}

void read_field(const SvdNode& node, unsigned register_bits, std::vector<Field>& to,
                SvdQuota& quota) {
    Field field;
    field.name = node.name();
    read_bits(node, field);
    read_values(node, field, quota);
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

Entry read_register(const SvdNode& node, const Around& clusters, SvdQuota& quota) {
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
    entry.direction = direction_of(node.inherited("access"));
    entry.overlaps =
        !node.text("alternateRegister").empty() || !node.text("alternateGroup").empty();
    for (const SvdNode& field : node.children("fields", "field")) {
        read_field(field, entry.first.size * 8, entry.first.fields, quota);
    }
    std::uint64_t end = std::min(entry.first.offset, address_space);
    for (const Series& series : entry.series) {
        end += std::min(series.step, address_space) * (series.count - 1);
    }
    if (end >= address_space) {
        throw node.error("register '{}' is beyond 40 bits of address", node.name());
    }
    return entry;
}

void read_registers(const std::vector<SvdNode>& nodes, const Around& clusters, std::size_t depth,
                    std::vector<Entry>& to, SvdQuota& quota) {
    for (const SvdNode& node : nodes) {
        quota.entries(node, 1);
        if (depth > deepest_cluster) {
            throw node.error("more than {} nested clusters", deepest_cluster);
        }
        if (node.kind() == "register") {
            to.push_back(read_register(node, clusters, quota));
        } else {
            read_registers(node.children(nullptr, "register", "cluster"),
                           inside(node, clusters, "_", quota), depth + 1, to, quota);
        }
    }
}

} // namespace

std::vector<Description> read_svd(std::string_view text, const std::string& name) {
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
        const SvdNode node(file, element);
        Description description;
        description.name = node.name();
        description.title = node.text("description");
        description.address = node.need_number("baseAddress");
        description.where = name;
        quota.text(node, description.title.size());
        read_registers(node.children("registers", "register", "cluster"), {}, 0,
                       description.entries, quota);
        found.push_back(std::move(description));
    }
    return found;
}

} // namespace mmioscope::registers
