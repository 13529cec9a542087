#include "analysis/pci.hpp"

#include "import/importing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace mmioscope::analysis {

namespace {

// Registers of a header (PCI Local Bus Specification 3.0, 6.1) and the layout of the
// memory-mapped configuration space (PCI Express Base Specification 2.0, 7.2.2).
constexpr unsigned reg_id = 0x00;
constexpr unsigned reg_class = 0x08;
constexpr unsigned reg_header = 0x0e;
constexpr unsigned reg_bar0 = 0x10;
constexpr unsigned bar_end = 0x28;
constexpr unsigned reg_rom = 0x30;
constexpr unsigned reg_bridge_rom = 0x38;
constexpr unsigned reg_interrupt = 0x3c;
constexpr std::uint32_t all_ones = 0xffff'ffff;
constexpr std::uint32_t rom_flags = 0x7ff; // bit 0 enables it, the others are reserved

std::string name_of(std::uint32_t place) {
    return fmt::format("{:02x}:{:02x}.{}", place >> 8, place >> 3 & 0x1f, place & 7);
}

bool is_ports(std::uint32_t bar) {
    return (bar & 1) != 0;
}

std::uint32_t flags_of(std::uint32_t bar) {
    return bar & (is_ports(bar) ? 0x3u : 0xfu);
}

// A 64-bit memory BAR; the next BAR is its upper half.
bool is_wide(std::uint32_t bar) {
    return (bar & 7) == 4;
}

// A bridge (type 1) has two; other registers follow (PCI-to-PCI Bridge Architecture Specification
// 1.1, 3.2).
std::size_t bar_count(unsigned header) {
    return header == 0 ? 6 : header == 1 ? 2 : 0;
}

// The lowest writable bit of an address is the size.
std::uint64_t size_of(std::uint64_t bits) {
    return bits & -bits;
}

// "0=0x10001000+0x1000" and so on; empty if there are none.
std::string bars_text(const PciFunction& function) {
    std::string text;
    for (std::size_t i = 0; i < pci_rom; ++i) {
        const auto& [base, size, kind] = function.ranges[i];
        if (base != 0 || size != 0) {
            text += fmt::format("{}{}={:#x}+{:#x}", text.empty() ? "" : " ", i, base, size);
        }
    }
    return text;
}

// A PCIDEV line of mmiotrace: id, interrupt, then bases and sizes, as in /proc/bus/pci/devices.
std::optional<PciFunction> function_of(const std::string& place, const std::string& line) {
    PciFunction function;
    std::istringstream in(place + ' ' + line);
    std::uint32_t id = 0;
    in >> std::hex >> function.place >> id >> function.interrupt;
    for (PciRange& range : function.ranges) {
        in >> range.base;
        range.kind = flags_of(static_cast<std::uint32_t>(range.base));
        range.base -= range.kind;
    }
    for (PciRange& range : function.ranges) {
        in >> range.size;
    }
    function.vendor = static_cast<std::uint16_t>(id >> 16);
    function.device = static_cast<std::uint16_t>(id);
    return in ? std::optional(function) : std::nullopt;
}

} // namespace

void Pci::begin(const trace::TraceReader& reader) {
    for (const auto& [key, line] : reader.text()) {
        const bool is_function = key.starts_with(importing::pci_key);
        if (const auto function = is_function
                                      ? function_of(key.substr(importing::pci_key.size()), line)
                                      : std::nullopt) {
            kept_.push_back(*function);
        }
    }
}

// The node of a host bridge is called pcie@... or pci@... (IEEE 1275's PCI binding); its first
// `reg` entry is the configuration space.
bool is_pci_configuration(std::string_view device) {
    return (device.starts_with("pcie@") || device.starts_with("pci@")) && !device.ends_with(']');
}

// Most places are not of such a device; remember those.
void Pci::add_all(std::span<const Event> events) {
    for (const Event& event : events) {
        const Id place = event.place_id();
        if (place >= others_.size() || !others_[place]) [[unlikely]] {
            add(event);
        }
    }
}

void Pci::add(const Event& event) {
    const abi::Record& record = event.record;
    if (!is_pci_configuration(event.device())) {
        const Id place = event.place_id();
        others_.resize(std::max<std::size_t>(others_.size(), place + 1u));
        others_[place] = 1;
        return;
    }
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    if (record.type != abi::RecordType::access || !known) {
        return;
    }
    const auto value = static_cast<std::uint32_t>(record.value);
    const auto reg = static_cast<unsigned>(event.offset() & 0xfff);
    const auto place = static_cast<std::uint32_t>(event.offset() >> 12);
    const unsigned size = abi::access_size(record);
    if (!abi::is_write(record)) {
        if (reg != reg_id || size < 4 || value != all_ones) {
            read(configurations_[place], reg, value, size);
        }
    } else if (const auto found = configurations_.find(place); found != configurations_.end()) {
        write(found->second, reg, value, size);
    }
}

void Pci::read(Configuration& of, unsigned reg, std::uint32_t value, unsigned size) {
    if (reg == reg_id && size == 4) {
        of.id = value;
    } else if (reg == reg_class && size == 4) {
        of.class_ = value;
    } else if (reg == reg_header && size == 1) {
        of.header = value & 0x7f; // bit 7: it has more functions
    } else if (reg == reg_interrupt && size == 1) {
        of.interrupt = value;
    } else if (Bar* const asked = size == 4 ? bar(of, reg) : nullptr; asked && asked->asked) {
        asked->answer = value;
    }
}

void Pci::write(Configuration& of, unsigned reg, std::uint32_t value, unsigned size) {
    if (reg == reg_interrupt && size == 1) {
        of.interrupt = value;
    } else if (Bar* const written = size == 4 ? bar(of, reg) : nullptr) {
        const bool rom = written == &of.bars[pci_rom];
        written->asked = (rom ? value | rom_flags : value) == all_ones;
        written->base = written->asked ? written->base : value;
    }
}

Pci::Bar* Pci::bar(Configuration& of, unsigned reg) {
    if (reg == (of.header == 1 ? reg_bridge_rom : reg_rom)) {
        return &of.bars[pci_rom];
    }
    const bool has = reg >= reg_bar0 && reg < bar_end && reg % 4 == 0;
    return has ? &of.bars[(reg - reg_bar0) / 4] : nullptr;
}

PciFunction Pci::function(std::uint32_t place, const Configuration& from) {
    PciFunction to;
    to.place = place;
    to.vendor = static_cast<std::uint16_t>(*from.id);
    to.device = static_cast<std::uint16_t>(*from.id >> 16);
    if (from.class_) {
        to.class_ = *from.class_ >> 8;
    }
    to.interrupt = from.interrupt;
    for (std::size_t i = 0; i < bar_count(from.header); ++i) {
        const Bar& low = from.bars[i];
        PciRange& range = to.ranges[i];
        range.kind = flags_of(low.answer != 0 ? low.answer : low.base);
        range.base = low.base - flags_of(low.base);
        std::uint64_t bits = low.answer - flags_of(low.answer);
        if (is_wide(low.answer) && i + 1 < pci_rom) {
            const Bar& high = from.bars[++i];
            range.base |= std::uint64_t{high.base} << 32;
            bits |= std::uint64_t{high.answer} << 32;
        }
        range.size = size_of(bits);
    }
    const Bar& rom = from.bars[pci_rom];
    to.ranges[pci_rom] = {rom.base & ~rom_flags, size_of(rom.answer & ~rom_flags), rom.base & 1};
    return to;
}

std::vector<PciFunction> Pci::functions() const {
    std::vector<PciFunction> all = kept_;
    for (const auto& [place, configuration] : configurations_) {
        if (configuration.id) {
            all.push_back(function(place, configuration));
        }
    }
    return all;
}

table::Table Pci::table() {
    using enum table::Look;
    using table::Cell;
    using table::Hex;
    table::Table table{{{"function", "function", words, 11},
                        {"vendor"},
                        {"device"},
                        {"", "id", words, 9},
                        {"class"},
                        {"", "class", words, 6},
                        {"bars", "BARs"}},
                       {}};
    for (const PciFunction& function : functions()) {
        const std::optional<std::uint32_t>& class_ = function.class_;
        table.rows.push_back({name_of(function.place), Hex{function.vendor}, Hex{function.device},
                              fmt::format("{:04x}:{:04x}", function.vendor, function.device),
                              class_ ? Cell(Hex{*class_}) : Cell(),
                              class_ ? fmt::format("{:06x}", *class_) : "?", bars_text(function)});
    }
    return table;
}

} // namespace mmioscope::analysis
