#include "diff/boot.hpp"

#include "import/importing.hpp"
#include "registers/device_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace mmioscope::diff {

std::uint32_t Sites::number_of(const Site& site) {
    const auto found = numbers_.find(site);
    if (found != numbers_.end()) {
        return found->second;
    }
    if (size() == most) {
        return none;
    }
    const auto added = numbers_.emplace(site, size()).first;
    sites_.push_back(&added->first);
    return added->second;
}

void Sites::describe(const Site& site, const Register& reg) {
    registers_.try_emplace({site.device, site.offset}, reg);
}

const Register* Sites::description(const Site& site) const {
    const auto found = registers_.find({site.device, site.offset});
    return found == registers_.end() ? nullptr : &found->second;
}

namespace {

/// By the function's place, "0100": vendor and device, and how many such functions are before it.
std::map<std::string, std::string> cards_of(const trace::TraceReader& reader) {
    std::map<std::string, std::string> cards;
    std::map<std::string, unsigned> count;
    for (const auto& [key, line] : reader.text()) { // in the order of places
        if (key.starts_with(importing::pci_key)) {
            const std::string id = line.substr(0, line.find(' '));
            cards[key.substr(importing::pci_key.size())] = fmt::format("{} {}", id, count[id]++);
        }
    }
    return cards;
}

/// "0100" of "/01:00.0,name" (import/mmiotrace.cpp); empty if it is no such path.
std::string pci_place(const std::string& path) {
    unsigned bus = 0, device = 0, function = 0;
    return std::sscanf(path.c_str(), "/%2x:%2x.%1x,", &bus, &device, &function) == 3
               ? fmt::format("{:04x}", bus << 8 | (device & 0x1f) << 3 | (function & 7))
               : "";
}

} // namespace

std::vector<Pairing::Device> Pairing::devices_of(const trace::TraceReader& reader) {
    const std::map<std::string, std::string> cards = cards_of(reader);
    std::vector<Device> found;
    std::uint16_t number = 0;
    for (registers::Device& device : registers::list_devices(reader.regions(), reader.tree())) {
        const auto card = cards.find(pci_place(device.path));
        found.push_back({std::string(reader.names()[number++]), device.range.base, device.reg_index,
                         std::move(device.compatible), card == cards.end() ? "" : card->second});
    }
    return found;
}

bool Pairing::same(const Device& a, const Device& b) {
    if (!a.card.empty() || !b.card.empty()) {
        return a.card == b.card && a.index == b.index;
    }
    return a.address == b.address &&
           std::ranges::find_first_of(a.compatible, b.compatible) != a.compatible.end();
}

Renamed Pairing::add(const trace::TraceReader& reader) {
    Renamed renamed;
    std::set<std::string, std::less<>> taken; // names that one device of this boot has already
    const std::size_t before = known_.size();
    std::vector<Device> fresh;
    for (Device& device : devices_of(reader)) {
        const std::span<const Device> earlier(known_.data(), before);
        const auto match = std::ranges::find_if(earlier, [&](const Device& one) {
            return same(one, device) && !taken.contains(one.name);
        });
        if (match != earlier.end()) {
            taken.insert(match->name);
            if (match->name != device.name) {
                renamed.emplace(device.name, match->name);
            }
        } else {
            fresh.push_back(std::move(device));
        }
    }
    for (Device& device : fresh) { // another device may have its name now
        if (taken.contains(device.name)) {
            device.name = renamed[device.name] = device.name + " (another)";
        }
    }
    know(std::move(fresh));
    return renamed;
}

void Pairing::know(std::vector<Device> devices) {
    known_.insert(known_.end(), std::make_move_iterator(devices.begin()),
                  std::make_move_iterator(devices.end()));
}

} // namespace mmioscope::diff
