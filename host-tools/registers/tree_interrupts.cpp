#include "registers/tree_interrupts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace mmioscope::registers {

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
