#include "diff/telling.hpp"

#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::diff {

namespace {

void add_once(std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(item);
    }
}

} // namespace

std::string code_text(const Site& site) {
    return site.function.empty() ? fmt::format("{:#010x}", site.place) : site.function;
}

std::string call_of(const Site& site) {
    return fmt::format("{}\n{}", site.device, code_text(site));
}

void add(Side& side, std::uint64_t count, std::uint64_t event) {
    side.event = side.event == 0 ? event : std::min(side.event, event);
    side.count += count;
}

void Names::add(const Site& site) {
    add_once(devices_, site.device);
    add_once(registers_, site.reg);
    add_once(functions_, code_text(site));
}

void Names::fill(Finding& to) const {
    to.device = list_text(devices_);
    to.reg = list_text(registers_);
    to.function = list_text(functions_);
}

Finding Telling::begun(std::uint32_t number, const char* kind) const {
    Finding finding;
    finding.kind = kind;
    finding.device = site(number).device;
    finding.reg = site(number).reg;
    finding.function = code_text(site(number));
    return finding;
}

namespace {

constexpr std::size_t most_items = 4;
constexpr std::size_t longest = 120; ///< fields of a value, in characters

unsigned within(const Site& site, const Register& reg) {
    return static_cast<unsigned>(site.offset - reg.offset);
}

std::string field_text(const Field& field, std::uint64_t value) {
    const std::string* const name = registers::value_name(field, value);
    return name != nullptr ? *name : fmt::format("{:#x}", value);
}

std::string in_brackets(const std::string& text) {
    return text.empty() || text.size() > longest ? "" : " (" + text + ")";
}

} // namespace

std::string value_text(const Site& site, const Register* reg, std::uint64_t value) {
    return fmt::format("{:#x}", value) +
           (reg == nullptr
                ? ""
                : in_brackets(registers::fields_text(*reg, value, site.size, within(site, *reg))));
}

std::string change_text(const Site& site, const Register* reg, std::uint64_t a, std::uint64_t b) {
    std::string fields;
    for (const Field& field : reg == nullptr ? std::vector<Field>() : reg->fields) {
        const std::uint64_t before = registers::field_value(field, a, within(site, *reg));
        const std::uint64_t now = registers::field_value(field, b, within(site, *reg));
        if (before != now && field.width < reg->size * 8 &&
            registers::holds(field, site.size, within(site, *reg))) {
            fields += fmt::format("{}{} {} -> {}", fields.empty() ? "" : ", ", field.name,
                                  field_text(field, before), field_text(field, now));
        }
    }
    return fmt::format("{:#x} -> {:#x}", a, b) + in_brackets(fields);
}

std::string times_text(std::uint64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string list_text(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size() && i < most_items; ++i) {
        text += (i == 0 ? "" : ", ") + items[i];
    }
    return items.size() <= most_items
               ? text
               : fmt::format("{} and {} more", text, items.size() - most_items);
}

Timeline::Timeline(const Alike& alike) {
    for (const auto& [site, done] : alike.goods().front().done) {
        if (const Done* const other = alike.other().find(site)) {
            a_by_b_[other->first] = done.first;
            b_by_a_[done.first] = other->first;
        }
    }
}

} // namespace mmioscope::diff
