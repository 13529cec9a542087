#include "diff/telling.hpp"

#include "diff/words.hpp"

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

void Names::give(Finding& to) const {
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

} // namespace mmioscope::diff
