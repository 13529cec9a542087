#include "symbols/accessors.hpp"

#include <algorithm>

namespace mmioscope::symbols {

namespace {

/// The names of Linux; `end`: in front of a compiler's `.part.0`.
struct NamesOf {
    std::string_view begin, end;
};
constexpr NamesOf families[] = {
    {"__raw_read", ""},
    {"__raw_write", ""}, // arch/arm/lib
    {"ioread", ""},
    {"iowrite", ""}, // lib/iomap.c
    {"_memcpy_", "io"},
    {"_memset_io", ""}, // arch/arm/kernel/io.c
    {"__iowrite", "_copy"},
    {"__ioread", "_copy"}, // lib/iomap_copy.c
    {"regmap_", ""},
    {"_regmap_", ""}, // drivers/base/regmap
    {"bgpio_", ""},
    {"irq_gc_", ""}, // gpio-mmio.c, generic-chip.c
    {"", "_serial_in"},
    {"", "_serial_out"},   // drivers/tty/serial/8250
    {"uart_console_", ""}, // serial_core.c: calls putchar
    {"pci_", "_config_byte"},
    {"pci_", "_config_word"},
    {"pci_", "_config_dword"},
    {"pci_generic_config_", ""}, // drivers/pci/access.c
};

} // namespace

bool is_accessor(std::string_view function) {
    const std::string_view name = function.substr(0, function.find('.'));
    return std::ranges::any_of(families, [&](const NamesOf& family) {
        return name.starts_with(family.begin) && name.ends_with(family.end);
    });
}

} // namespace mmioscope::symbols
