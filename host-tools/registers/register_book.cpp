#include "registers/register_book.hpp"

#include "registers/regs_reader.hpp"
#include "registers/shipped.hpp"
#include "registers/svd_reader.hpp"
#include "system/error.hpp"
#include "system/whole_file.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace mmioscope::registers {

namespace {

constexpr std::size_t deepest_include = 8;  ///< limit for nested includes
constexpr std::size_t most_entries = 65536; ///< for one description with its includes

bool has(const Description& description, const std::string& compatible) {
    const auto& all = description.compatible;
    return std::find(all.begin(), all.end(), compatible) != all.end();
}

// `text` up to its second device.
std::string_view first_device(std::string_view text) {
    constexpr std::string_view next = "\ndevice ";
    const std::size_t first = text.starts_with(next.substr(1)) ? 0 : text.find(next);
    const std::size_t second = text.find(next, first == std::string_view::npos ? first : first + 1);
    return text.substr(0, second == std::string_view::npos ? second : second + 1);
}

// Only the properties that RegisterBook::find() and includes use.
Description how_found(std::string_view device, std::string_view file) {
    std::string lines;
    while (!device.empty()) {
        const std::string_view line = device.substr(0, device.find('\n') + 1);
        if (line.starts_with("device ") || line.starts_with("compatible ") ||
            line.starts_with("reg ")) {
            lines += line;
        }
        device.remove_prefix(line.size());
    }
    return read_regs(lines, std::string(file)).front();
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
    for (const ShippedFile& file : shipped_files()) {
        unsigned line = 1;
        for (std::string_view rest = file.text; !rest.empty();) {
            const std::string_view device = first_device(rest);
            book.descriptions_.push_back(how_found(device, file.name));
            book.shipped_.push_back({device, file.name, line});
            line += static_cast<unsigned>(std::count(device.begin(), device.end(), '\n'));
            rest.remove_prefix(device.size());
        }
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
            for (const Description& peripheral : read_svd(inclusion.file)) {
                if (peripheral.name == inclusion.name) {
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
        const Place place = named(inclusion.name);
        Description* const other = place ? &read(*place) : nullptr;
        if (other == nullptr || chain.size() == deepest_include ||
            std::find(chain.begin(), chain.end(), other) != chain.end()) {
            throw bad_input("{}: {} '{}'", inclusion.where,
                            other == nullptr ? "there is no device"
                                             : "a device cannot include itself:",
                            inclusion.name);
        }
        include(*other, read_svd, chain);
        append(in, *other, inclusion);
    }
    chain.pop_back();
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
        to.entries.push_back(std::move(entry));
    }
}

namespace {

std::string description(const std::string& path) {
    return whole_file(path, "description of registers");
}

// Its content appears on terminals.
std::string plain_description(const std::string& path) {
    std::string text = description(path);
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
    return text;
}

} // namespace

void RegisterBook::add_file(const std::string& argument) {
    const SvdReader svd = [](const std::string& file) { return read_svd(description(file), file); };
    const std::size_t colon = argument.find(".svd:");
    const bool whole_svd = argument.ends_with(".svd") || argument.ends_with(".xml");
    if (whole_svd) {
        add(svd(argument), svd);
        return;
    }
    if (colon != std::string::npos) {
        const std::string binding = argument.substr(colon + 5);
        const std::size_t equals = binding.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == binding.size()) {
            throw bad_input("'{}' is not FILE.svd:PERIPHERAL=COMPATIBLE", argument);
        }
        Description description;
        description.name = binding.substr(0, equals);
        description.compatible = {binding.substr(equals + 1)};
        description.inclusions = {{description.name, argument.substr(0, colon + 4), 0, argument}};
        add({description}, svd);
        return;
    }
    std::vector<Description> more = read_regs(plain_description(argument), argument);
    resolve_paths(more, argument);
    for (const Description& description : more) {
        if (const auto found = overlap(description)) {
            throw bad_input("{}:{}: {} (add 'also' if it is meant to)", argument, found->line,
                            found->text);
        }
    }
    add(std::move(more), svd);
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

RegisterBook::Place RegisterBook::place_of(std::span<const std::string> compatible,
                                           unsigned reg_index, std::uint64_t address) const {
    if (const Place own = compatible_with(compatible, reg_index, shipped_.size())) {
        return own;
    }
    for (std::size_t i = descriptions_.size(); i-- > shipped_.size();) {
        if (descriptions_[i].address == address && address != 0) {
            return i;
        }
    }
    return compatible_with(compatible, reg_index, 0);
}

const Description* RegisterBook::find(std::span<const std::string> compatible, unsigned reg_index,
                                      std::uint64_t address) const {
    const Place place = place_of(compatible, reg_index, address);
    return place ? &read(*place) : nullptr;
}

bool RegisterBook::may_have_conditions(std::span<const std::string> compatible, unsigned reg_index,
                                       std::uint64_t address) const {
    const Place place = place_of(compatible, reg_index, address);
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
    bool may = depth == deepest_include || text.find(" when ") != text.npos;
    for (std::size_t at; !may && (at = text.find(inclusion)) != text.npos;) {
        text.remove_prefix(at + inclusion.size());
        const Place other = named(text.substr(0, text.find_first_of(" \n")));
        may = !other || may_have_conditions(*other, depth + 1);
    }
    return may;
}

} // namespace mmioscope::registers
