#include "analysis/pci.hpp"

#include <fmt/format.h>

namespace mmioscope::analysis {

namespace {

// Registers of a header (PCI Local Bus Specification 3.0, 6.1) and the layout of the
// memory-mapped configuration space (PCI Express Base Specification 2.0, 7.2.2).
constexpr unsigned reg_id = 0x00;
constexpr unsigned reg_class = 0x08;
constexpr unsigned reg_header = 0x0e;
constexpr unsigned reg_bar0 = 0x10;
constexpr unsigned bar_end = 0x28;
constexpr std::uint32_t all_ones = 0xffff'ffff;

// The node of a host bridge is called pcie@... or pci@... (IEEE 1275's PCI binding); its first
// `reg` entry is the configuration space.
bool is_configuration(std::string_view device) {
    return (device.starts_with("pcie@") || device.starts_with("pci@")) && !device.ends_with(']');
}

std::string name_of(std::uint32_t place) {
    return fmt::format("{:02x}:{:02x}.{}", place >> 8, place >> 3 & 0x1f, place & 7);
}

std::uint32_t address_of(std::uint32_t bar) {
    return bar & ((bar & 1) != 0 ? ~0x3u : ~0xfu);
}

// Of memory, with the next one as its upper half.
bool is_wide(std::uint32_t bar) {
    return (bar & 7) == 4;
}

// A bridge (type 1) has two; behind them it has other registers (PCI-to-PCI Bridge Architecture
// Specification 1.1, 3.2).
std::size_t bar_count(unsigned header) {
    return header == 0 ? 6 : header == 1 ? 2 : 0;
}

} // namespace

void Pci::add(const Event& event) {
    const abi::Record& record = *event.record;
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    if (record.type != abi::RecordType::access || !known || !is_configuration(event.device)) {
        return;
    }
    const auto value = static_cast<std::uint32_t>(record.value);
    const auto reg = static_cast<unsigned>(event.offset & 0xfff);
    const auto place = static_cast<std::uint32_t>(event.offset >> 12);
    if (!abi::is_write(record)) {
        if (reg != reg_id || abi::access_size(record) < 4 || value != all_ones) {
            read(functions_[place], reg, value, abi::access_size(record));
        }
    } else if (const auto found = functions_.find(place);
               found != functions_.end() && abi::access_size(record) == 4) {
        write(found->second, reg, value);
    }
}

void Pci::read(Function& function, unsigned reg, std::uint32_t value, unsigned size) {
    if (reg == reg_id && size == 4) {
        function.id = value;
    } else if (reg == reg_class && size == 4) {
        function.class_ = value;
    } else if (reg == reg_header && size == 1) {
        function.header = value & 0x7f; // bit 7: it has other functions beside it
    } else if (reg >= reg_bar0 && reg < bar_end && reg % 4 == 0 && size == 4) {
        Bar& bar = function.bars[(reg - reg_bar0) / 4];
        bar.answer = bar.asked ? value : bar.answer;
    }
}

void Pci::write(Function& function, unsigned reg, std::uint32_t value) {
    if (reg >= reg_bar0 && reg < bar_end && reg % 4 == 0) {
        Bar& bar = function.bars[(reg - reg_bar0) / 4];
        bar.asked = value == all_ones;
        bar.base = bar.asked ? bar.base : value;
    }
}

exporting::Table Pci::rows() const {
    exporting::Table table{{"function", "vendor", "device", "class", "bars"}, {}};
    for (const auto& [place, function] : functions_) {
        if (function.id) {
            table.rows.push_back({name_of(place), exporting::Hex{*function.id & 0xffff},
                                  exporting::Hex{*function.id >> 16},
                                  function.class_
                                      ? exporting::Cell(exporting::Hex{*function.class_ >> 8})
                                      : exporting::Cell(),
                                  bars_text(function)});
        }
    }
    return table;
}

std::string Pci::table() const {
    std::string text = fmt::format("{:<12} {:<9} {:<8} {}\n", "function", "id", "class", "BARs");
    for (const auto& [place, function] : functions_) {
        if (!function.id) {
            continue;
        }
        const std::string bars = bars_text(function);
        text += fmt::format("{:<12} {:04x}:{:04x} {:<8}{}{}\n", name_of(place),
                            *function.id & 0xffff, *function.id >> 16,
                            function.class_ ? fmt::format("{:06x}", *function.class_ >> 8) : "?",
                            bars.empty() ? "" : " ", bars);
    }
    return text;
}

// The lowest bit of an address that can be written tells the size.
std::string Pci::bars_text(const Function& function) {
    std::string text;
    for (std::size_t i = 0; i < bar_count(function.header); ++i) {
        const Bar& low = function.bars[i];
        std::uint64_t base = address_of(low.base);
        std::uint64_t bits = address_of(low.answer);
        const std::size_t first = i;
        if (is_wide(low.answer) && i + 1 < function.bars.size()) {
            const Bar& high = function.bars[++i];
            base |= std::uint64_t{high.base} << 32;
            bits |= std::uint64_t{high.answer} << 32;
        }
        if (base != 0 || bits != 0) {
            text += fmt::format("{}{}={:#x}+{:#x}", text.empty() ? "" : " ", first, base, bits & -bits);
        }
    }
    return text;
}

} // namespace mmioscope::analysis
