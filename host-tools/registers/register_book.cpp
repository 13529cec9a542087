#include "registers/register_book.hpp"

#include "registers/device_registers.hpp"
#include "registers/shipped.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "tree/device_tree.hpp"

#include <algorithm>
#include <filesystem>

namespace mmioscope::registers {

namespace {

constexpr std::size_t deepest_include = 8;  ///< limit for nested includes
constexpr std::size_t most_entries = 65536; ///< for one description with its includes

bool has(const Description& description, const std::string& compatible) {
    const auto& all = description.compatible;
    return std::find(all.begin(), all.end(), compatible) != all.end();
}

// SVD files are relative to the description that names them.
void resolve_paths(std::vector<Description>& descriptions, const std::string& file) {
    const std::filesystem::path directory = std::filesystem::path(file).parent_path();
    for (Description& description : descriptions) {
        for (Inclusion& inclusion : description.inclusions) {
            if (!inclusion.file.empty()) {
                inclusion.file = (directory / inclusion.file).string();
            }
        }
    }
}

} // namespace

RegisterBook RegisterBook::shipped() {
    RegisterBook book;
    for (const ShippedDevice& device : shipped_devices()) {
        auto found = read_regs(device.head, std::string(device.file), device.line);
        book.descriptions_.push_back(std::move(found.front()));
        book.shipped_.push_back({device.text, device.file, device.line});
    }
    return book;
}

Description& RegisterBook::read(std::size_t index) const {
    Description& description = descriptions_[index];
    if (index < shipped_.size() && !shipped_[index].text.empty()) {
        const Unread unread = std::exchange(shipped_[index], {});
        description =
            std::move(read_regs(unread.text, std::string(unread.file), unread.line).front());
        Chain chain;
        include(description, {}, chain);
    }
    return description;
}

const std::deque<Description>& RegisterBook::descriptions() const {
    for (std::size_t i = 0; i < shipped_.size(); ++i) {
        read(i);
    }
    return descriptions_;
}

void RegisterBook::add(std::vector<Description> more, const SvdReader& read_svd) {
    const std::size_t start = descriptions_.size();
    std::move(more.begin(), more.end(), std::back_inserter(descriptions_));
    for (std::size_t i = start; i < descriptions_.size(); ++i) {
        Chain chain;
        include(descriptions_[i], read_svd, chain);
    }
}

void RegisterBook::include(Description& in, const SvdReader& read_svd, Chain& chain) const {
    chain.push_back(&in);
    for (const Inclusion& inclusion : std::exchange(in.inclusions, {})) {
        if (!inclusion.file.empty()) {
            std::string name = inclusion.name;
            std::erase_if(name, [](char c) { return c == '[' || c == ']'; }); // UART[1] is UART1
            for (const Description& peripheral : read_svd(inclusion.file)) {
                if (peripheral.name == name) {
                    append(in, peripheral, inclusion);
                    in.title = in.title.empty() ? peripheral.title : in.title;
                }
            }
            if (in.entries.empty()) {
                throw bad_input("{}: {} has no peripheral '{}' with registers", inclusion.where,
                                inclusion.file, inclusion.name);
            }
            continue;
        }
        append(in, other(inclusion.name, inclusion.where, read_svd, chain), inclusion);
    }
    for (const Later& later : std::exchange(in.later, {})) {
        const auto of = condition(in, later.field);
        if (!of || later.device.empty() == (later.field.find('=') == std::string::npos)) {
            throw bad_input("{}: '{}' is not a {} of this device", later.where, later.field,
                            later.device.empty() ? "condition REGISTER.FIELD=VALUE"
                                                 : "field REGISTER.FIELD");
        }
        if (later.device.empty()) {
            in.entries[later.entry].when = of;
        } else {
            add_chosen(in, later, *of, other(later.device, later.where, read_svd, chain));
        }
    }
    chain.pop_back();
}

const Description& RegisterBook::other(const std::string& name, const std::string& where,
                                       const SvdReader& read_svd, Chain& chain) const {
    const Place place = named(name);
    Description* const found = place ? &read(*place) : nullptr;
    if (found == nullptr || chain.size() == deepest_include ||
        std::find(chain.begin(), chain.end(), found) != chain.end()) {
        throw bad_input(
            "{}: {} '{}'", where,
            found == nullptr ? "there is no device" : "a device cannot include itself:", name);
    }
    include(*found, read_svd, chain);
    return *found;
}

// The data register has a variant for each register of `from`, while the index is its number. The
// index has their names behind its own.
void RegisterBook::add_chosen(Description& to, const Later& how, const Condition& index,
                              const Description& from) const {
    const Entry data = to.entries[how.entry];
    std::vector<Condition> before;
    for (const std::string& text : how.before) {
        const auto one = condition(to, text);
        if (!one || one->offset != index.offset || text.find('=') == text.npos) {
            throw bad_input("{}: '{}' is not a condition FIELD=VALUE of the register of '{}'",
                            how.where, text, how.field);
        }
        before.push_back(*one);
    }
    std::vector<std::pair<std::uint64_t, std::string>> names;
    for (const Entry& entry : from.entries) {
        const Register& chosen = entry.first;
        Entry variant = data;
        variant.when = index;
        variant.when->value = chosen.offset / chosen.size;
        if (!data.series.empty() || !entry.series.empty() || data.when || entry.when ||
            chosen.size > data.first.size ||
            (index.width < 64 && variant.when->value >> index.width != 0) ||
            to.entries.size() >= most_entries) {
            throw bad_input("{}: {} of {} cannot be chosen by {}: it must have no indices and no "
                            "condition, be no larger than {}, and have a number that fits",
                            how.where, instance(entry, chosen.offset).name, from.name, how.field,
                            data.first.name);
        }
        variant.before = before;
        variant.direction = !before.empty()                     ? Direction::read
                            : data.direction == Direction::both ? entry.direction
                                                                : data.direction;
        variant.first.name = fmt::format("{}[{}]", data.first.name, chosen.name);
        variant.first.fields = chosen.fields;
        variant.first.description = chosen.description;
        names.emplace_back(variant.when->value, chosen.name);
        to.entries.push_back(std::move(variant));
    }
    for (Entry& entry : to.entries) {
        for (Field& field : entry.first.fields) {
            if (entry.first.offset == index.offset && entry.series.empty() &&
                field.low == index.low && field.width == index.width) {
                field.values.insert(field.values.end(), names.begin(), names.end());
            }
        }
    }
}

void RegisterBook::append(Description& to, const Description& from, const Inclusion& how) const {
    if (to.entries.size() + from.entries.size() > most_entries) {
        throw bad_input("{}: {} has more than {} lines of registers", how.where, to.name,
                        most_entries);
    }
    for (Entry entry : from.entries) {
        if (how.offset >= address_space ||
            entry.first.offset + how.offset + extent(entry) > address_space) {
            throw bad_input("{}: its registers would end beyond 40 bits of address", how.where);
        }
        entry.first.offset += how.offset;
        entry.prefix = to.prefix;
        if (entry.when) {
            entry.when->offset += how.offset;
        }
        for (Condition& condition : entry.before) {
            condition.offset += how.offset;
        }
        to.entries.push_back(std::move(entry));
    }
}

namespace {

std::string description(const std::string& path) {
    std::string text = whole_text(path, "description of registers");
    if (const std::string known = tree::known_file(std::as_bytes(std::span(text)));
        !known.empty()) {
        throw bad_input("{}: this is {}", path, known);
    }
    return text;
}

// Its content appears on terminals.
void check_plain(std::string_view text, const std::string& path) {
    unsigned number = 0;
    for (std::string_view rest = text; !rest.empty();) {
        std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        ++number;
        std::ranges::replace_if(
            line, [](char c) { return c == '\t' || c == '\r'; }, ' ');
        if (for_terminal(line) != line) {
            throw bad_input("{}:{}: a control character: remove it", path, number);
        }
    }
}

// Begins with an element, maybe behind a byte order mark.
bool is_xml(std::string_view text) {
    text.remove_prefix(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '<';
}

// "FILE.svd:PERIPHERAL=COMPATIBLE".
Description bound(const std::string& argument, std::size_t colon) {
    const std::string binding = argument.substr(colon + 1);
    const std::size_t equals = binding.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == binding.size()) {
        throw bad_input("'{}' is not FILE.svd:PERIPHERAL=COMPATIBLE", argument);
    }
    Description description;
    description.name = binding.substr(0, equals);
    description.compatible = {binding.substr(equals + 1)};
    description.inclusions = {{description.name, argument.substr(0, colon), 0, argument}};
    return description;
}

} // namespace

void RegisterBook::add_file(const std::string& argument) {
    const auto svd_in = [this](const std::string& text, const std::string& file) {
        LeftOut left_out;
        auto peripherals = read_svd(text, file, left_out);
        if (left_out.count != 0) {
            left_out_.push_back(std::move(left_out));
        }
        return peripherals;
    };
    const SvdReader svd = [&](const std::string& file) { return svd_in(description(file), file); };
    std::string lower = argument;
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const std::size_t binding = lower.find(".svd:");
    const std::string text = binding != std::string::npos ? "" : description(argument);
    if (binding != std::string::npos) {
        add({bound(argument, binding + 4)}, svd);
    } else if (lower.ends_with(".svd") || is_xml(text)) {
        add(svd_in(text, argument), svd);
    } else {
        check_plain(text, argument);
        std::vector<Description> more = read_regs(text, argument);
        resolve_paths(more, argument);
        for (const Description& description : more) {
            if (const auto found = overlap(description)) {
                throw bad_input("{}:{}: {} (add 'also' if it is meant to)", argument, found->line,
                                found->text);
            }
        }
        add(std::move(more), svd);
    }
    files_.push_back({argument, descriptions_.size()});
}

RegisterBook::Place RegisterBook::named(std::string_view name) const {
    for (std::size_t i = descriptions_.size(); i-- > 0;) {
        if (descriptions_[i].name == name) {
            return i;
        }
    }
    return std::nullopt;
}

RegisterBook::Place RegisterBook::compatible_with(std::span<const std::string> compatible,
                                                  unsigned reg_index, std::size_t from) const {
    for (const std::string& one : compatible) {
        for (std::size_t i = descriptions_.size(); i-- > from;) {
            if (descriptions_[i].reg_index == reg_index && has(descriptions_[i], one)) {
                return i;
            }
        }
    }
    return std::nullopt;
}

// The user's SVD peripherals with a register in `range`: those of the last file first, each file's
// in its order.
std::vector<std::size_t> RegisterBook::reaching(const tree::AddressRange& range) const {
    std::vector<std::size_t> found;
    std::size_t end = descriptions_.size();
    for (std::size_t i = end; i-- > shipped_.size();) {
        const bool first =
            i == shipped_.size() || descriptions_[i - 1].where != descriptions_[i].where;
        for (std::size_t j = i; first && j < end; ++j) {
            if (descriptions_[j].address != 0 && reaches(descriptions_[j], range)) {
                found.push_back(j);
            }
        }
        end = first ? i : end;
    }
    return found;
}

const Description* RegisterBook::find(std::span<const std::string> compatible, unsigned reg_index,
                                      const tree::AddressRange& range) const {
    if (const Place own = compatible_with(compatible, reg_index, shipped_.size())) {
        note_use(*own);
        return &descriptions_[*own];
    }
    const std::vector<std::size_t> near = reaching(range);
    std::vector<const Description*> peripherals;
    for (const std::size_t i : near) {
        note_use(i);
        peripherals.push_back(&descriptions_[i]);
    }
    if (peripherals.size() == 1 && peripherals[0]->address == range.base) {
        return peripherals[0];
    }
    if (!peripherals.empty()) {
        return &placed_.try_emplace({range.base, range.size}, placed(peripherals, range))
                    .first->second;
    }
    const Place shipped = compatible_with(compatible, reg_index, 0);
    return shipped ? &read(*shipped) : nullptr;
}

void RegisterBook::note_use(std::size_t index) const {
    const auto file = std::ranges::find_if(files_, [&](const File& f) { return index < f.end; });
    if (file != files_.end()) {
        file->used = true;
    }
}

std::vector<std::string> RegisterBook::unused() const {
    std::vector<std::string> found;
    for (const File& file : files_) {
        if (!file.used) {
            found.push_back(file.argument);
        }
    }
    return found;
}

// An SVD file has no conditions.
bool RegisterBook::may_have_conditions(std::span<const std::string> compatible, unsigned reg_index,
                                       const tree::AddressRange& range) const {
    Place place = compatible_with(compatible, reg_index, shipped_.size());
    if (!place && reaching(range).empty()) {
        place = compatible_with(compatible, reg_index, 0);
    }
    return place && may_have_conditions(*place, 0);
}

// For a description not parsed yet, decides by its text, and by the texts of those that it
// includes.
bool RegisterBook::may_have_conditions(std::size_t index, std::size_t depth) const {
    constexpr std::string_view inclusion = "\ninclude ";
    if (index >= shipped_.size() || shipped_[index].text.empty()) {
        const auto& entries = descriptions_[index].entries;
        return std::ranges::any_of(entries, [](const Entry& entry) { return !!entry.when; });
    }
    std::string_view text = shipped_[index].text;
    bool may = depth == deepest_include || text.find(" when ") != text.npos ||
               text.find(" indirect ") != text.npos;
    for (std::size_t at; !may && (at = text.find(inclusion)) != text.npos;) {
        text.remove_prefix(at + inclusion.size());
        const Place other = named(text.substr(0, text.find_first_of(" \n")));
        may = !other || may_have_conditions(*other, depth + 1);
    }
    return may;
}

} // namespace mmioscope::registers
