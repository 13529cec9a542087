#include "info/items.hpp"
#include "info/text.hpp"
#include "lib/plain_text.hpp"

#include <fmt/format.h>

namespace mmioscope::info {

namespace {

std::string size_text(std::uint64_t size) {
    constexpr std::uint64_t kibi = 1024;
    if (size >= kibi * kibi && size % (kibi * kibi) == 0) {
        return fmt::format("{} MiB", size / kibi / kibi);
    }
    return size >= kibi && size % kibi == 0 ? fmt::format("{} KiB", size / kibi)
                                            : fmt::format("{} B", size);
}

// They are the node's: its first region tells them. Empty: none.
std::string interrupts_text(const registers::Device& device) {
    return device.reg_index > 0 ? "" : fmt::format("{}", fmt::join(device.interrupts, ","));
}

std::string_view traced_text(const registers::Device& device, bool changed) {
    return changed ? "changed" : device.traced ? "yes" : device.disabled ? "off" : "no";
}

std::string_view or_dash(std::string_view text) {
    return text.empty() ? "-" : text;
}

exporting::Cell if_any(std::string text) {
    return text.empty() ? exporting::Cell() : exporting::Cell(std::move(text));
}

} // namespace

std::string devices_text(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                         const trace::Selections& selections) {
    const std::size_t width = reader.names().width();
    std::string text =
        fmt::format("{:<{}}  {:<7}  {:>10}  {:>8}  {:<12}  {:<28}  {}\n", "device", width, "traced",
                    "address", "size", "interrupts", "compatible", "path");
    const auto& all = devices.devices();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const registers::Device& device = all[i];
        const auto index = static_cast<std::uint16_t>(i);
        text += fmt::format("{:<{}}  {:<7}  {:#010x}  {:>8}  {:<12}  {:<28}  {}\n",
                            reader.names()[index], width,
                            traced_text(device, selections.of(index) != nullptr), device.range.base,
                            size_text(device.range.size), or_dash(interrupts_text(device)),
                            device.compatible.empty() ? "-" : printable(device.compatible.front()),
                            printable(device.path));
    }
    return text;
}

Items device_items(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                   const trace::Selections& selections) {
    Items items;
    for (const registers::Device& device : devices.devices()) {
        const auto index = static_cast<std::uint16_t>(items.size());
        items.push_back(
            {"device",
             std::string(reader.names()[index]),
             {{"address", exporting::Hex{device.range.base}},
              {"size", exporting::Hex{device.range.size}},
              {"interrupts", if_any(interrupts_text(device))},
              {"compatible", if_any(fmt::format("{}", fmt::join(device.compatible, " ")))},
              {"path", if_any(device.path)},
              {"traced", traced_text(device, selections.of(index) != nullptr)},
              {"alias", if_any(device.alias)}}});
    }
    return items;
}

} // namespace mmioscope::info
