#include "view/tables.hpp"
#include "registers/tree_interrupts.hpp"

#include <fmt/format.h>

namespace mmioscope::view {

namespace {

// Interrupts belong to the node, so only its first region shows them. Empty: none.
std::string interrupts_text(const tree::TreeNodes& nodes, const registers::Device& device) {
    std::string text;
    if (device.reg_index == 0 && device.node != tree::TreeNodes::none) {
        for (const auto& interrupt : registers::interrupts_of(nodes, device.node)) {
            text += fmt::format("{}{}", text.empty() ? "" : ",", interrupt.id);
        }
    }
    return text;
}

std::string_view traced_text(const registers::Device& device, bool changed) {
    return changed ? "changed" : device.traced ? "yes" : device.disabled ? "off" : "no";
}

table::Cell if_any(std::string text) {
    return text.empty() ? table::Cell() : table::Cell(std::move(text));
}

} // namespace

table::Table device_table(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                          const trace::Selections& selections) {
    using enum table::Look;
    table::Table table{{{"about"},
                        {"name", "device", words, 12},
                        {"", "traced", words, 7},
                        {"address", "address", number, 11, 8},
                        {"size", "size", size, 9},
                        {"interrupts", "interrupts", words, 12},
                        {"", "compatible", words, 28},
                        {"compatible"},
                        {"path", "path"},
                        {"traced"},
                        {"alias"}},
                       {}};
    const tree::TreeNodes nodes(devices.tree());
    for (const registers::Device& device : devices.devices()) {
        const auto index = static_cast<std::uint16_t>(table.rows.size());
        const std::string_view traced = traced_text(device, selections.of(index) != nullptr);
        table.rows.push_back({std::string_view("device"), std::string(reader.names()[index]),
                              traced, table::Hex{device.range.base}, table::Hex{device.range.size},
                              if_any(interrupts_text(nodes, device)),
                              if_any(device.compatible.empty() ? "" : device.compatible.front()),
                              if_any(fmt::format("{}", fmt::join(device.compatible, " "))),
                              if_any(device.path), traced, if_any(device.alias)});
    }
    return table;
}

} // namespace mmioscope::view
