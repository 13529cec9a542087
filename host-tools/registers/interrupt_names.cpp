#include "registers/interrupt_names.hpp"

#include "registers/tree_interrupts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mmioscope::registers {

namespace {

constexpr unsigned cpu_interface = 1; ///< index of its entry in a GIC's `reg`

// Limits, because a tree may repeat a long name for each interrupt.
constexpr std::size_t most_devices = 8;
constexpr std::size_t longest = 100; ///< for a device's name with that of its interrupt

// GICC_IAR, EOIR, HPPIR, AIAR, AEOIR, AHPPIR, DIR: all have the interrupt in the same bits.
constexpr std::array<std::uint64_t, 7> registers = {0x0c, 0x10, 0x18, 0x20, 0x24, 0x28, 0x1000};

std::string last_component(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

} // namespace

void InterruptNames::bind(std::span<const Device> devices, std::span<const std::string> names,
                          std::span<const std::byte> tree) {
    const tree::TreeNodes nodes(tree);
    tree_.assign(tree.begin(), tree.end());
    node_names_.clear();
    interfaces_.assign(devices.size(), false);
    names_.clear();
    for (std::size_t i = devices.size(); i-- > 0;) {
        const std::size_t node = devices[i].node;
        if (node == tree::TreeNodes::none) {
            continue;
        }
        node_names_[node] =
            i < names.size() && devices[i].reg_index == 0 ? names[i] : devices[i].alias;
        if (devices[i].reg_index == cpu_interface && is_gic(nodes, node)) {
            interfaces_[i] = true;
        }
    }
}

void InterruptNames::name_all() {
    const std::vector<std::byte> tree = std::exchange(tree_, {});
    const tree::TreeNodes nodes(tree);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        const auto known = node_names_.find(node);
        const bool named = known != node_names_.end() && !known->second.empty();
        const std::string name = named ? known->second : last_component(nodes.path(node));
        const std::vector<TreeInterrupt> all = interrupts_of(nodes, node);
        for (std::size_t n = 0; n < all.size(); ++n) {
            std::string which;
            if (!all[n].name.empty() && all.size() > 1) {
                which = " " + all[n].name;
            } else if (n > 0 && all[n].id >= 32) {
                which = fmt::format(" #{}", n);
            }
            add(all[n].id, node, (name.substr(0, longest) + which).substr(0, longest));
        }
    }
}

// Called node by node.
void InterruptNames::add(unsigned id, std::size_t node, const std::string& name) {
    Named& named = names_[id];
    if (named.devices > most_devices || (named.devices > 0 && named.node == node)) {
        return;
    }
    named.text += named.devices == 0 ? "" : ", ";
    named.text += named.devices == most_devices ? "..." : name;
    named.node = node;
    ++named.devices;
}

bool InterruptNames::says(const abi::Record& record, std::uint64_t offset) const {
    return are_of(record.device) &&
           std::find(registers.begin(), registers.end(), offset) != registers.end() &&
           (record.flags & abi::flag_value_unknown) == 0;
}

std::string InterruptNames::devices(unsigned id) {
    if (!tree_.empty()) {
        name_all();
    }
    const auto found = names_.find(id);
    return found == names_.end() ? "" : found->second.text;
}

std::vector<std::string> InterruptNames::all_names() {
    std::vector<std::string> all{text(1023), text(1022)};
    for (unsigned cpu = 0; cpu < 8; ++cpu) {
        for (unsigned id = 0; id < 16; ++id) {
            all.push_back(text(id | cpu << 10));
        }
    }
    devices(0); // finds the names
    for (const auto& [id, named] : names_) {
        all.push_back(text(id));
        for (std::string_view rest = named.text; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find(", "));
            all.emplace_back(one);
            all.emplace_back(one.substr(0, one.find(' ')));
            rest.remove_prefix(std::min(rest.size(), one.size() + 2));
        }
    }
    return all;
}

// GIC Architecture Specification (IHI 0048B) 4.4.4: bits 9:0 are the interrupt, 12:10 the CPU an
// SGI came from.
std::string InterruptNames::text(std::uint64_t value) {
    const unsigned id = interrupt_of(value);
    if (id >= first_special_interrupt) {
        return id == 1023   ? "spurious"
               : id == 1022 ? "spurious, one of the other group"
                            : fmt::format("reserved {}", id);
    }
    if (id < 16) {
        return fmt::format("SGI {} from cpu{}", id, value >> 10 & 7);
    }
    const std::string name = devices(id);
    return fmt::format("{}{}{}{}", id < first_shared_interrupt ? "PPI " : "", id,
                       name.empty() ? "" : " ", name);
}

} // namespace mmioscope::registers
