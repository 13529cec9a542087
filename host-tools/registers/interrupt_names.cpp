#include "registers/interrupt_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
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

namespace {

using tree::Cells;
using tree::TreeNodes;

constexpr std::size_t most_cells = 8;          ///< limit for a specifier; trees have 1 to 3
constexpr unsigned most_controllers = 16;      ///< limit on the way to the GIC
constexpr std::size_t most_interrupts = 256;   ///< limit for one node
constexpr std::size_t most_map_entries = 1024; ///< limit for an interrupt-map

constexpr std::array<std::string_view, 10> gics = {
    "arm,cortex-a15-gic", "arm,cortex-a9-gic", "arm,cortex-a7-gic",
    "arm,cortex-a5-gic",  "arm,gic-400",       "arm,eb11mp-gic",
    "arm,pl390",          "arm,tc11mp-gic",    "arm,arm1176jzf-devchip-gic",
    "qcom,msm-8660-qgic"};

using Specifier = std::vector<std::uint32_t>;

Specifier cells_at(const Cells& cells, std::size_t at, std::size_t count) {
    Specifier taken;
    for (std::size_t i = at; i < at + count && i < cells.count(); ++i) {
        taken.push_back(cells[i]);
    }
    return taken;
}

std::size_t interrupt_cells(const TreeNodes& tree, std::size_t node) {
    return std::min<std::size_t>(tree.number(node, "#interrupt-cells", 0), most_cells);
}

// The interrupt parent of `node`: by interrupt-parent of the node or of the nearest ancestor that
// has it, otherwise the nearest ancestor that is a controller itself.
std::size_t controller_of(const TreeNodes& tree, std::size_t node) {
    for (unsigned i = 0; i < most_controllers * 4 && node != TreeNodes::none; ++i) {
        const Cells phandle = tree.cells(node, "interrupt-parent");
        node = phandle.count() > 0 ? tree.find_phandle(phandle[0]) : tree.parent(node);
        if (node != TreeNodes::none && interrupt_cells(tree, node) > 0) {
            return node;
        }
    }
    return TreeNodes::none;
}

/// An interrupt on its way to the GIC: the current controller, and its specifier there.
struct Way {
    std::size_t controller;
    Specifier address; ///< of the device; an interrupt-map may use it
    Specifier specifier;
};

bool matches(const Specifier& sought, const Cells& map, std::size_t at, const Cells& mask) {
    for (std::size_t i = 0; i < sought.size(); ++i) {
        const std::uint32_t bits = i < mask.count() ? mask[i] : ~0u;
        if ((sought[i] & bits) != (map[at + i] & bits)) {
            return false;
        }
    }
    return true;
}

// The next controller, through this one's interrupt-map (Devicetree Specification 2.4.3).
std::optional<Way> through_map(const TreeNodes& tree, const Way& way) {
    const Cells map = tree.cells(way.controller, "interrupt-map");
    const Cells mask = tree.cells(way.controller, "interrupt-map-mask");
    Specifier sought = way.address;
    sought.resize(
        std::min<std::size_t>(tree.number(way.controller, "#address-cells", 2), most_cells));
    sought.insert(sought.end(), way.specifier.begin(), way.specifier.end());
    std::size_t at = 0;
    std::size_t last = TreeNodes::none; // usually all entries have the same controller
    std::size_t address_cells = 0;
    std::size_t specifier_cells = 0;
    for (std::size_t n = 0; n < most_map_entries && at + sought.size() + 1 <= map.count(); ++n) {
        const std::size_t next = tree.find_phandle(map[at + sought.size()]);
        if (next == TreeNodes::none) {
            return std::nullopt;
        }
        if (next != std::exchange(last, next)) {
            address_cells =
                std::min<std::size_t>(tree.number(next, "#address-cells", 0), most_cells);
            specifier_cells = interrupt_cells(tree, next);
        }
        const std::size_t parent_address = at + sought.size() + 1;
        const std::size_t parent_specifier = parent_address + address_cells;
        const std::size_t end = parent_specifier + specifier_cells;
        if (end <= map.count() && matches(sought, map, at, mask)) {
            return Way{next, cells_at(map, parent_address, address_cells),
                       cells_at(map, parent_specifier, specifier_cells)};
        }
        at = end;
    }
    return std::nullopt;
}

// A controller before the GIC that wakes up the machine or masks interrupts, and passes numbers on
// unchanged.
std::optional<Way> through_controller(const TreeNodes& tree, const Way& way) {
    const std::size_t next = controller_of(tree, way.controller);
    if (way.specifier.size() != 3 || next == TreeNodes::none || next == way.controller ||
        interrupt_cells(tree, next) != 3) {
        return std::nullopt;
    }
    return Way{next, {}, way.specifier};
}

// Interrupt bindings of the GIC: type (0 shared, 1 private), number, flags.
std::optional<unsigned> gic_id(const Specifier& specifier) {
    if (specifier.size() < 3 || specifier[0] > 1) {
        return std::nullopt;
    }
    const bool shared = specifier[0] == 0;
    const unsigned id = specifier[1] + (shared ? 32 : 16);
    return specifier[1] < (shared ? 988u : 16u) ? std::optional(id) : std::nullopt;
}

std::optional<unsigned> to_gic(const TreeNodes& tree, Way way) {
    for (unsigned i = 0; i < most_controllers; ++i) {
        if (is_gic(tree, way.controller)) {
            return gic_id(way.specifier);
        }
        const auto next = tree.has(way.controller, "interrupt-map") ? through_map(tree, way)
                                                                    : through_controller(tree, way);
        if (!next) {
            return std::nullopt;
        }
        way = *next;
    }
    return std::nullopt;
}

Specifier unit_address(const TreeNodes& tree, std::size_t node) {
    const std::size_t bus = tree.parent(node);
    const std::size_t count = bus == TreeNodes::none ? 0 : tree.number(bus, "#address-cells", 2);
    return cells_at(tree.cells(node, "reg"), 0, std::min(count, most_cells));
}

} // namespace

bool is_gic(const TreeNodes& tree, std::size_t node) {
    for (const std::string& compatible : tree.strings(node, "compatible")) {
        if (std::find(gics.begin(), gics.end(), compatible) != gics.end()) {
            return true;
        }
    }
    return false;
}

std::vector<TreeInterrupt> interrupts_of(const TreeNodes& tree, std::size_t node) {
    std::vector<TreeInterrupt> found;
    Cells cells = tree.cells(node, "interrupts-extended");
    const bool extended = cells.there();
    if (!extended) {
        cells = tree.cells(node, "interrupts");
    }
    if (cells.count() == 0) { // most nodes
        return found;
    }
    const std::vector<std::string> names = tree.strings(node, "interrupt-names");
    std::size_t controller = extended ? TreeNodes::none : controller_of(tree, node);
    std::size_t at = 0;
    for (std::size_t n = 0; n < most_interrupts && at < cells.count(); ++n) {
        if (extended) {
            controller = tree.find_phandle(cells[at++]);
        }
        const std::size_t count =
            controller == TreeNodes::none ? 0 : interrupt_cells(tree, controller);
        if (count == 0 || at + count > cells.count()) {
            break;
        }
        const auto id =
            to_gic(tree, {controller, unit_address(tree, node), cells_at(cells, at, count)});
        if (id) {
            found.push_back({*id, n < names.size() ? names[n] : ""});
        }
        at += count;
    }
    return found;
}

} // namespace mmioscope::registers
